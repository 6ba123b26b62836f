import { useState } from 'preact/hooks';
import type { SlackForm } from '../../contract.ts';
import { Line } from '../outside.tsx';
import { type Block, type Element, plainText, readBlock, type View } from './block-kit.ts';

type Input = Extract<Block, { type: 'input' }>;

interface FormProps {
  form: SlackForm;
  /** Undefined if nothing can be submitted. Gets what was entered, by block id. */
  submit: ((values: Record<string, unknown>) => void) | undefined;
  cancel: (() => void) | undefined;
}

/** An open form of the Slack stand-in. */
export function Form({ form: { viewId, user, view }, submit, cancel }: FormProps) {
  const { title, blocks = [], submit: submitText, close } = view as View;
  const inputs = blocks.map(readBlock).filter((block): block is Input => block.type === 'input');
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const idOf = (input: Input) => `${viewId} ${input.block_id} ${input.element.action_id}`;
  const answerOf = (input: Input) => values[idOf(input)] ?? initial(input.element);

  return (
    <form
      class="slack-form"
      aria-label={title ? plainText(title) : 'Form'}
      onSubmit={(event) => {
        event.preventDefault();
        submit?.(Object.fromEntries(inputs.map((input) => [input.block_id ?? '', answerOf(input)])));
      }}
    >
      <h3>
        {title && <Line text={plainText(title)} />}{' '}
        <span class="soft small">
          for <Line text={user} length={40} />
        </span>
      </h3>
      {inputs.map((input) => (
        <label key={idOf(input)} class="field" htmlFor={idOf(input)}>
          <span>
            {plainText(input.label)}
            {input.optional && <span class="soft"> (optional)</span>}
          </span>
          <Field
            id={idOf(input)}
            element={input.element}
            value={answerOf(input)}
            isRequired={!input.optional}
            change={(value) => setValues({ ...values, [idOf(input)]: value })}
          />
          {input.hint && <small>{plainText(input.hint)}</small>}
        </label>
      ))}
      <div class="actions end">
        <button type="button" disabled={!cancel} onClick={cancel}>
          {close ? plainText(close) : 'Cancel'}
        </button>
        <button type="submit" class="primary" disabled={!submit}>
          {submitText ? plainText(submitText) : 'Submit'}
        </button>
      </div>
    </form>
  );
}

interface FieldProps {
  id: string;
  element: Element;
  value: string;
  isRequired: boolean;
  change: (value: string) => void;
}

function Field({ id, element, value, isRequired: required, change }: FieldProps) {
  const { type, multiline, options = [], option_groups: groups = [], is_decimal_allowed: isDecimal } = element;
  const onInput = ({ currentTarget }: { currentTarget: { value: string } }) => change(currentTarget.value);
  switch (type) {
    case 'static_select':
      return (
        <select id={id} value={value} required={required} onChange={onInput}>
          <option value="">choose…</option>
          {options.map(asOption)}
          {groups.map(({ label, options: own }) => (
            <optgroup key={label.text} label={plainText(label)}>
              {own.map(asOption)}
            </optgroup>
          ))}
        </select>
      );
    case 'multi_static_select':
      return (
        <select
          id={id}
          multiple
          required={required}
          onChange={({ currentTarget }) =>
            change(Array.from(currentTarget.selectedOptions, (option) => option.value).join('\n'))
          }
        >
          {options.map(asOption)}
        </select>
      );
    case 'datepicker':
      return <input id={id} type="date" value={value} required={required} onInput={onInput} />;
    case 'number_input':
      return (
        <input id={id} type="number" step={isDecimal ? 'any' : 1} value={value} required={required} onInput={onInput} />
      );
    default:
      return multiline ? (
        <textarea id={id} value={value} required={required} rows={4} onInput={onInput} />
      ) : (
        <input id={id} value={value} required={required} onInput={onInput} />
      );
  }
}

function asOption({ text, value }: NonNullable<Element['options']>[number]) {
  return (
    <option key={value} value={value}>
      {plainText(text)}
    </option>
  );
}

function initial({ initial_option: option, initial_value: value, initial_date: date }: Element): string {
  return option?.value ?? value ?? date ?? '';
}
