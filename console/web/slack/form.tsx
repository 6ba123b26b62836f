import { useState } from 'preact/hooks';
import type { SlackForm } from '../../contract.ts';
import { Line } from '../outside.tsx';
import { type Block, type Element, type Option, plainText, readBlock, type View } from './block-kit.ts';

type Input = Extract<Block, { type: 'input' }>;

interface FormProps {
  form: SlackForm;
  /** Undefined if nothing can be submitted. Gets what was entered, by block id. */
  submit: ((values: Record<string, unknown>) => void) | undefined;
  cancel: (() => void) | undefined;
  /** The options of a list, for what is typed into it. */
  suggest: (blockId: string, typed: string) => Promise<Option[]>;
}

/** An open form of the Slack stand-in. */
export function Form({ form: { viewId, user, view }, submit, cancel, suggest }: FormProps) {
  const { title, blocks = [], submit: submitText, close } = view as View;
  const inputs = blocks.map(readBlock).filter((block): block is Input => block.type === 'input');
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const idOf = (input: Input) => `${viewId} ${input.block_id} ${input.element.action_id}`;
  const answerOf = (input: Input) => values[idOf(input)] ?? initial(input.element);

  return (
    <form
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
            suggest={(typed) => suggest(input.block_id ?? '', typed)}
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
  suggest: (typed: string) => Promise<Option[]>;
}

function Field({ id, element, value, isRequired: required, change, suggest }: FieldProps) {
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
    case 'external_select':
      return <Suggested id={id} required={required} change={change} suggest={suggest} />;
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

/** A list that the relay fills while a person types. Only its entries can be chosen. */
function Suggested({
  id,
  required,
  change,
  suggest,
}: Pick<FieldProps, 'id' | 'change' | 'suggest'> & { required: boolean }) {
  const [options, setOptions] = useState<Option[]>([]);
  const chosen = (typed: string, among: Option[]) => among.find(({ text }) => plainText(text) === typed)?.value ?? '';
  return (
    <>
      <input
        id={id}
        list={`${id} list`}
        required={required}
        autocomplete="off"
        onInput={async ({ currentTarget: { value: typed } }) => {
          change(chosen(typed, options));
          if (!chosen(typed, options)) setOptions(await suggest(typed));
        }}
      />
      <datalist id={`${id} list`}>
        {options.map(({ text, value }) => (
          <option key={value} value={plainText(text)} />
        ))}
      </datalist>
    </>
  );
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
