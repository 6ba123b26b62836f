import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';

/**
 * The blocks that the relay sends, with the fields that it sets, from https://docs.slack.dev/reference/block-kit. Other
 * blocks are refused, even if Slack knows them. Slack does not define a character. Here it is a UTF-16 code unit, so a
 * count is never too small.
 */

const text = (most: number) => z.string().min(1).max(most);
const plainText = (most: number) =>
  z.strictObject({ type: z.literal('plain_text'), text: text(most), emoji: z.boolean().optional() });
const mrkdwn = (most: number) => z.strictObject({ type: z.literal('mrkdwn'), text: text(most) });

const option = z.strictObject({ text: plainText(75), value: z.string().max(150) });
const optionGroup = z.strictObject({ label: plainText(75), options: z.array(option).min(1).max(100) });

const actionable = { action_id: z.string().max(255).optional() };
const identifiable = { block_id: z.string().min(1).max(255).optional() };

const button = z.strictObject({
  type: z.literal('button'),
  text: plainText(75),
  value: z.string().max(2000).optional(),
  url: z.url().max(3000).optional(),
  style: z.enum(['primary', 'danger']).optional(),
  ...actionable,
});

const datepicker = z.strictObject({
  type: z.literal('datepicker'),
  initial_date: z.iso.date().optional(),
  ...actionable,
});

const staticSelect = z
  .strictObject({
    type: z.literal('static_select'),
    options: z.array(option).min(1).max(100).optional(),
    option_groups: z.array(optionGroup).min(1).max(100).optional(),
    initial_option: option.optional(),
    ...actionable,
  })
  .refine(({ options, option_groups }) => (options === undefined) !== (option_groups === undefined), {
    error: 'must define either `options` or `option_groups`',
  })
  .refine(
    ({ options = [], option_groups = [], initial_option }) =>
      initial_option === undefined ||
      [...options, ...option_groups.flatMap((group) => group.options)].some((one) =>
        isDeepStrictEqual(one, initial_option),
      ),
    { error: 'must match one of the options', path: ['initial_option'] },
  );

const externalSelect = z.strictObject({
  type: z.literal('external_select'),
  min_query_length: z.int().min(0).optional(),
  placeholder: plainText(150).optional(),
  ...actionable,
});

/**
 * Slack documents no limit for `initial_value`. A person cannot enter more than 3,000 characters or `max_length`, so
 * this assumes the same limit.
 */
const plainTextInput = z
  .strictObject({
    type: z.literal('plain_text_input'),
    initial_value: z.string().optional(),
    multiline: z.boolean().optional(),
    max_length: z.int().min(1).max(3000).optional(),
    ...actionable,
  })
  .refine(({ initial_value = '', max_length = 3000 }) => initial_value.length <= max_length, {
    error: 'must not be longer than `max_length`',
    path: ['initial_value'],
  });

const actions = z.strictObject({
  type: z.literal('actions'),
  elements: z
    .array(button)
    .min(1)
    .max(25)
    .refine((elements) => areUnique(elements.map(({ action_id }) => action_id)), { error: 'repeats an action_id' }),
  ...identifiable,
});

const input = z.strictObject({
  type: z.literal('input'),
  label: plainText(2000),
  element: z.discriminatedUnion('type', [datepicker, externalSelect, plainTextInput, staticSelect]),
  hint: plainText(2000).optional(),
  optional: z.boolean().optional(),
  ...identifiable,
});

const section = z.strictObject({
  type: z.literal('section'),
  text: z.discriminatedUnion('type', [plainText(3000), mrkdwn(3000)]),
  accessory: button.optional(),
  ...identifiable,
});

const richText = z.strictObject({
  type: z.literal('rich_text'),
  elements: z.array(
    z.strictObject({
      type: z.literal('rich_text_section'),
      elements: z
        .array(
          z.discriminatedUnion('type', [
            z.strictObject({ type: z.literal('text'), text: text(3000) }),
            z.strictObject({ type: z.literal('link'), text: text(3000), url: z.url() }),
          ]),
        )
        .min(1),
    }),
  ),
  ...identifiable,
});

const blocks = z
  .array(z.discriminatedUnion('type', [actions, input, section, richText]))
  .refine((all) => areUnique(all.map(({ block_id }) => block_id)), { error: 'repeats a block_id' });

const ofMessage = blocks.max(50);

/** https://docs.slack.dev/reference/views/modal-views */
const modal = z
  .strictObject({
    type: z.literal('modal'),
    title: plainText(24),
    blocks: blocks.max(100),
    close: plainText(24).optional(),
    submit: plainText(24).optional(),
    private_metadata: z.string().max(3000).optional(),
    callback_id: z.string().max(255).optional(),
    external_id: z.string().max(255).optional(),
  })
  .refine(({ blocks, submit }) => submit !== undefined || !blocks.some(({ type }) => type === 'input'), {
    error: 'must define `submit` to use an input',
  });

/** Why Slack would refuse the options that the relay gives for a list; empty if it would not. */
export function optionFaults(given: unknown): string[] {
  return faultsOf(z.strictObject({ options: z.array(option).max(100) }).safeParse(given));
}

/** Why Slack would refuse the blocks of a message; empty if it would not. */
export function blockKitFaults(given: unknown): string[] {
  return faultsOf(ofMessage.safeParse(given));
}

/** Why Slack would refuse a modal; empty if it would not. */
export function viewFaults(given: unknown): string[] {
  return faultsOf(modal.safeParse(given));
}

/** `0.text.text: Too big: expected string to have <=3000 characters` */
function faultsOf({ error }: { error?: z.ZodError }): string[] {
  return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);
}

function areUnique(ids: readonly (string | undefined)[]): boolean {
  const given = ids.filter((id) => id !== undefined);
  return new Set(given).size === given.length;
}
