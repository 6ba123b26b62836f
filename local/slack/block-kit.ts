import * as z from 'zod';
import { anyText, button, inputElement, plainText } from './block-elements.ts';
import { faultAt, schemaFaults } from './schema-faults.ts';

/**
 * The blocks that the relay sends, one page each below https://docs.slack.dev/reference/block-kit/blocks. Any other is
 * refused, even if Slack knows it.
 */

export type Surface = 'message' | 'modal';

/** How many blocks there may be. https://docs.slack.dev/reference/block-kit/blocks */
const MAX_BLOCKS: Readonly<Record<Surface, number>> = { message: 50, modal: 100 };

const identifiable = { block_id: z.string().min(1).max(255).optional() };

/** actions-block */
const actions = z.strictObject({
  type: z.literal('actions'),
  elements: z
    .array(z.discriminatedUnion('type', [button]))
    .min(1)
    .max(25),
  ...identifiable,
});

/** input-block */
const input = z.strictObject({
  type: z.literal('input'),
  label: plainText(2000),
  element: inputElement,
  hint: plainText(2000).optional(),
  optional: z.boolean().optional(),
  ...identifiable,
});

/** section-block */
const section = z.strictObject({
  type: z.literal('section'),
  text: anyText(3000),
  accessory: button.optional(),
  ...identifiable,
});

const block = z.discriminatedUnion('type', [actions, input, section]);
const blocksOf = (surface: Surface) => z.array(block).max(MAX_BLOCKS[surface]);
const blockSchemas = { message: blocksOf('message'), modal: blocksOf('modal') };

/** https://docs.slack.dev/reference/views/modal-views */
const modal = z.strictObject({
  type: z.literal('modal'),
  title: plainText(24),
  blocks: blockSchemas.modal,
  close: plainText(24).optional(),
  submit: plainText(24).optional(),
  private_metadata: z.string().max(3000).optional(),
  callback_id: z.string().max(255).optional(),
  external_id: z.string().max(255).optional(),
});

/** A block that the schemas have let through. */
interface CheckedBlock {
  type: string;
  block_id?: string | undefined;
  elements?: readonly { action_id?: string | undefined }[];
}

/**
 * What Slack would refuse in the blocks of a message or a modal, in the words and with the JSON pointers of its answers:
 * `must be less than 3001 characters [json-pointer:/blocks/0/text/text]`. Empty where nothing is wrong.
 */
export function blockKitFaults(blocks: unknown, surface: Surface): string[] {
  const read = blockSchemas[surface].safeParse(blocks);
  return read.success ? idFaults(read.data, '/blocks') : schemaFaults(read.error, blocks, '/blocks');
}

/** What Slack would refuse in a modal, the same way: `missing required field: title [json-pointer:/view]`. */
export function viewFaults(view: unknown): string[] {
  const read = modal.safeParse(view);
  if (!read.success) return schemaFaults(read.error, view, '/view');
  const { blocks, submit } = read.data;
  return [...idFaults(blocks, '/view/blocks'), ...(submit ? [] : unsubmittable(blocks))];
}

/** A block's id is unique in its message or view, an action's id in its block. */
function idFaults(blocks: readonly CheckedBlock[], pointer: string): string[] {
  return [
    ...repeats(blocks.map(({ block_id }) => block_id)).map(({ index, id }) =>
      faultAt(`block_id ${id} already exists`, `${pointer}/${index}/block_id`),
    ),
    ...blocks.flatMap(({ elements = [] }, index) =>
      repeats(elements.map(({ action_id }) => action_id)).map(({ index: element, id }) =>
        faultAt(`action_id ${id} already exists`, `${pointer}/${index}/elements/${element}/action_id`),
      ),
    ),
  ];
}

function unsubmittable(blocks: readonly CheckedBlock[]): string[] {
  return blocks.flatMap(({ type }, index) =>
    type === 'input' ? [faultAt('must define `submit` to use `input` block', `/view/blocks/${index}/input`)] : [],
  );
}

function repeats(ids: readonly (string | undefined)[]): { index: number; id: string }[] {
  return ids.flatMap((id, index) => (id !== undefined && ids.indexOf(id) < index ? [{ index, id }] : []));
}
