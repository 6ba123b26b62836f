import type { InputBlock, KnownBlock, ModalView } from '@slack/types';
import * as z from 'zod/mini';
import type { FormField } from '../mcp/form.ts';
import { outsideText } from '../mcp/outside-text.ts';
import { cutToLength } from '../text.ts';
import { button, MAX_BUTTON_VALUE_LENGTH, plainSection, section } from './messages.ts';

export const TOOL_MODAL = 'tool';
/** A button that opens the form of the tool that is its value. */
export const TOOL_BUTTON = 'fill-in-tool';

/** The value of a {@link TOOL_BUTTON}. */
export const toolToFill = z.object({ connection: z.string(), tool: z.string() });

/** What the form of a tool remembers. */
export const toolMemory = z.object({
  ...toolToFill.shape,
  /** The hash of the schema that the form was made of. */
  schema: z.string(),
  /** The block at which faults of the whole form are shown. */
  faultsAt: z.string(),
  /** The job that made the form, which keeps the tool. */
  madeBy: z.optional(z.string()),
});

/** A tool as people choose it. */
export interface ListedTool {
  name: string;
  title: string;
  description: string;
  isDestructive: boolean;
}

export const CONFIRM = 'confirm';
const ARGUMENT = 'argument:';
const YES = 'yes';
const MAX_TITLE_LENGTH = 24;
const MAX_LABEL_LENGTH = 100;
const MAX_HINT_LENGTH = 150;
const MAX_OPTIONS = 100;
const MAX_OPTION_LENGTH = 75;
const MAX_INPUT_LENGTH = 3_000;
/** Of the 100 blocks of a view. https://docs.slack.dev/reference/views/modal-views */
const MAX_FIELDS = 90;
/** https://docs.slack.dev/reference/block-kit/blocks */
const MAX_BLOCK_ID_LENGTH = 255;

/** A list of tools, each with a button that opens its form. */
export function toolBlocks(connection: string, tools: readonly ListedTool[], left: number): KnownBlock[] {
  const more = left > 0 ? [section(`_…and ${left} more. A word after the command narrows the list._`)] : [];
  return [
    ...tools.map((tool) => {
      const value = JSON.stringify({ connection, tool: tool.name } satisfies z.output<typeof toolToFill>);
      return {
        ...plainSection(`${tool.isDestructive ? ':warning: ' : ''}${tool.title || tool.name}\n${tool.description}`),
        ...(value.length <= MAX_BUTTON_VALUE_LENGTH && { accessory: button('Fill in', TOOL_BUTTON, value) }),
      };
    }),
    ...more,
  ];
}

/** The form before its tool is known, or in place of one that cannot be made. */
export function toolMessageModal(text: string): ModalView {
  return { ...frame('Fill in'), blocks: [plainSection(text)] };
}

/** @returns undefined for a tool with more arguments than a form has room for */
export function toolModal(
  tool: ListedTool,
  { connection, schema, madeBy }: { connection: string; schema: string; madeBy: string },
  fields: readonly FormField[],
): ModalView | undefined {
  const tooLong = fields.some(({ name }) => argumentBlock(name).length > MAX_BLOCK_ID_LENGTH);
  if (fields.length > MAX_FIELDS || tooLong) return undefined;
  const inputs = fields.map(input);
  // Slack shows faults at inputs only, so that there is at least one.
  if (tool.isDestructive || inputs.length === 0) inputs.push(confirmation(tool));
  const memory = { connection, tool: tool.name, schema, madeBy, faultsAt: inputs[0]?.block_id ?? CONFIRM };
  return {
    ...frame(tool.title || tool.name),
    callback_id: TOOL_MODAL,
    private_metadata: JSON.stringify(memory satisfies z.output<typeof toolMemory>),
    submit: { type: 'plain_text', text: 'Do it' },
    blocks: [...(tool.description === '' ? [] : [plainSection(tool.description)]), ...inputs],
  };
}

/** The block of an argument: a name of any letters is part of it. */
export const argumentBlock = (name: string): string => ARGUMENT + name;

/** What was filled in, by argument. @param values by block */
export function argumentsIn(values: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(values).filter(([block]) => block.startsWith(ARGUMENT));
  return Object.fromEntries(entries.map(([block, value]) => [block.slice(ARGUMENT.length), value]));
}

const plainText = (text: string, length: number) =>
  ({ type: 'plain_text', text: cutToLength(text, length, '…') }) as const;

const frame = (title: string) =>
  ({ type: 'modal', title: plainText(title, MAX_TITLE_LENGTH), close: plainText('Cancel', 24) }) as const;

function input(field: FormField): InputBlock {
  const { name, kind, isOptional } = field;
  // First, because a long hint is cut.
  const hint = [kind === 'list' ? 'One on each line.' : '', kind === 'json' ? 'As JSON.' : '', field.hint];
  const told = hint.filter((part) => part !== '').join(' ');
  return {
    type: 'input',
    block_id: argumentBlock(name),
    label: plainText(outsideText(name) || '(no name)', MAX_LABEL_LENGTH),
    optional: isOptional,
    ...(told !== '' && { hint: plainText(told, MAX_HINT_LENGTH) }),
    element: element(field),
  };
}

function element({ kind, choices }: FormField): InputBlock['element'] {
  const text = {
    type: 'plain_text_input',
    action_id: 'value',
    max_length: MAX_INPUT_LENGTH,
    ...((kind === 'list' || kind === 'json') && { multiline: true }),
  } as const;
  if (kind === 'date') return { type: 'datepicker', action_id: 'value' };
  if (kind === 'number' || kind === 'integer') {
    return { type: 'number_input', action_id: 'value', is_decimal_allowed: kind === 'number' };
  }
  if (kind === 'boolean') return select([['Yes', 'true'], ['No', 'false']]); // biome-ignore format: two pairs
  const fits = choices.length > 0 && choices.length <= MAX_OPTIONS && choices.every(isOption);
  return kind === 'choice' && fits ? select(choices.map((one) => [one, one])) : text;
}

const isOption = (choice: string) => choice.length <= MAX_OPTION_LENGTH;

function confirmation({ isDestructive }: ListedTool): InputBlock {
  const label = isDestructive ? 'This may delete or overwrite something. Do it?' : 'Do it?';
  return {
    type: 'input',
    block_id: CONFIRM,
    label: plainText(label, MAX_LABEL_LENGTH),
    element: select([['Yes', YES]]),
  };
}

function select(options: readonly (readonly [string, string])[]): InputBlock['element'] {
  return {
    type: 'static_select',
    action_id: 'value',
    options: options.map(([text, value]) => ({ text: plainText(text, MAX_OPTION_LENGTH), value })),
  };
}
