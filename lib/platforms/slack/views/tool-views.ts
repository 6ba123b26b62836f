import type { InputBlock, KnownBlock, ModalView } from '@slack/types';
import * as z from 'zod/mini';
import type { FormField } from '../../../as-person/protocol/form.ts';
import { outsideText } from '../../../as-person/protocol/outside-text.ts';
import { cutToLength } from '../../../text.ts';
import { placeAsked } from '../command-button.ts';
import { button, MAX_BUTTON_VALUE_LENGTH, plainSection, section } from '../messages.ts';
import { MAX_INPUT_LENGTH, MAX_OPTION_LENGTH, MAX_OPTIONS } from './limits.ts';

export const TOOL_MODAL = 'tool';
/** A button that opens the form of the tool that is its value. */
export const TOOL_BUTTON = 'fill-in-tool';

/** The value of a {@link TOOL_BUTTON}. */
export const toolToFill = z.object({ ...placeAsked.shape, tool: z.string() });

/** What the form of a tool remembers. */
export const toolMemory = z.object({
  connection: z.string(),
  tool: z.string(),
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
  /** Whether its arguments fit into a form. */
  hasForm: boolean;
}

export const CONFIRM = 'confirm';
const ARGUMENT = 'argument:';
/** The action id of every field. Slack keeps what a person typed when a form is updated, if the ids stay the same. */
const FIELD = 'value';
const YES = 'yes';
const MAX_TITLE_LENGTH = 24;
const MAX_LABEL_LENGTH = 100;
const MAX_HINT_LENGTH = 150;
const NO_FORM = '\nThis tool takes more than a form can hold. Use it in the service.';
/** Of the 100 blocks of a view. https://docs.slack.dev/reference/views/modal-views */
const MAX_FIELDS = 90;
/** https://docs.slack.dev/reference/methods/views.open */
const MAX_VIEW_BYTES = 250_000;
/** https://docs.slack.dev/reference/block-kit/blocks */
const MAX_BLOCK_ID_LENGTH = 255;

/** A list of tools, each with a button that opens its form, or with the words that it has none. */
export function toolBlocks(
  place: z.output<typeof placeAsked>,
  tools: readonly ListedTool[],
  left: number,
): KnownBlock[] {
  const more = left > 0 ? [section(`_…and ${left} more. A word after the command narrows the list._`)] : [];
  return [
    ...tools.map((tool) => {
      const value = JSON.stringify({ ...place, tool: tool.name } satisfies z.output<typeof toolToFill>);
      const hasButton = tool.hasForm && value.length <= MAX_BUTTON_VALUE_LENGTH;
      const name = `${tool.isDestructive ? ':warning: ' : ''}${tool.title || tool.name}`;
      return {
        ...plainSection(`${name}\n${tool.description}${hasButton ? '' : NO_FORM}`),
        ...(hasButton && { accessory: button('Fill in', TOOL_BUTTON, value) }),
      };
    }),
    ...more,
  ];
}

/** The form before its tool is known, or in place of one that cannot be made. */
export function toolMessageModal(text: string): ModalView {
  return { ...frame('Fill in'), blocks: [plainSection(text)] };
}

/** @returns undefined for a tool with more arguments or choices than a form has room for */
export function toolModal(
  tool: ListedTool,
  { connection, schema, madeBy }: { connection: string; schema: string; madeBy: string },
  fields: readonly FormField[],
): ModalView | undefined {
  if (fields.length > MAX_FIELDS || !fields.every(hasRoom)) return undefined;
  const inputs = fields.map(input);
  // Slack shows faults at inputs only, so that there is at least one.
  if (tool.isDestructive || inputs.length === 0) inputs.push(confirmation(tool));
  const memory = { connection, tool: tool.name, schema, madeBy, faultsAt: inputs[0]?.block_id ?? CONFIRM };
  const view: ModalView = {
    ...frame(tool.title || tool.name),
    callback_id: TOOL_MODAL,
    private_metadata: JSON.stringify(memory satisfies z.output<typeof toolMemory>),
    submit: { type: 'plain_text', text: 'Do it' },
    blocks: [...(tool.description === '' ? [] : [plainSection(tool.description)]), ...inputs],
  };
  return Buffer.byteLength(JSON.stringify(view)) > MAX_VIEW_BYTES ? undefined : view;
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

const choicesOf = ({ argument }: FormField) => (argument.entry ?? argument).choices.map(String);

function hasRoom(field: FormField): boolean {
  const choices = choicesOf(field);
  const isOption = (choice: string) => choice.trim() !== '' && choice.length <= MAX_OPTION_LENGTH;
  const isShort = argumentBlock(field.name).length <= MAX_BLOCK_ID_LENGTH;
  return isShort && choices.length <= MAX_OPTIONS && choices.every(isOption);
}

function input(field: FormField): InputBlock {
  const { name, hint, isOptional } = field;
  return {
    type: 'input',
    block_id: argumentBlock(name),
    label: plainText(outsideText(name) || '(no name)', MAX_LABEL_LENGTH),
    optional: isOptional,
    ...(hint !== '' && { hint: plainText(hint, MAX_HINT_LENGTH) }),
    element: element(field),
  };
}

function element(field: FormField): InputBlock['element'] {
  const { kind } = field.argument;
  const action = { action_id: FIELD };
  switch (kind) {
    case 'text':
      return { type: 'plain_text_input', ...action, max_length: MAX_INPUT_LENGTH };
    case 'date':
      return { type: 'datepicker', ...action };
    case 'number':
    case 'integer':
      return { type: 'number_input', ...action, is_decimal_allowed: kind === 'number' };
    case 'boolean':
      return { type: 'static_select', ...action, options: [option('Yes', 'true'), option('No', 'false')] };
    case 'choice':
      return { type: 'static_select', ...action, options: choicesOf(field).map((one) => option(one, one)) };
    case 'list':
      return { type: 'multi_static_select', ...action, options: choicesOf(field).map((one) => option(one, one)) };
  }
}

function confirmation({ isDestructive }: ListedTool): InputBlock {
  const label = isDestructive ? 'This may delete or overwrite something. Do it?' : 'Do it?';
  return {
    type: 'input',
    block_id: CONFIRM,
    label: plainText(label, MAX_LABEL_LENGTH),
    element: { type: 'static_select', action_id: FIELD, options: [option('Yes', YES)] },
  };
}

const option = (text: string, value: string) => ({ text: plainText(text, MAX_OPTION_LENGTH), value });
