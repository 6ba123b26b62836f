import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';

/**
 * The elements and texts of Block Kit that the relay sends, with the fields that it sets, as
 * https://docs.slack.dev/reference/block-kit describes them. Any other is refused, even if Slack knows it. Slack does
 * not define a character. Here it is a UTF-16 code unit, which never gives a smaller count.
 */

/** https://docs.slack.dev/reference/block-kit/composition-objects/text-object */
export const plainText = (maxLength: number) =>
  z.strictObject({
    type: z.literal('plain_text'),
    text: z.string().min(1).max(maxLength),
    emoji: z.boolean().optional(),
  });

const mrkdwn = (maxLength: number) =>
  z.strictObject({ type: z.literal('mrkdwn'), text: z.string().min(1).max(maxLength) });

export const anyText = (maxLength: number) => z.discriminatedUnion('type', [plainText(maxLength), mrkdwn(maxLength)]);

/** https://docs.slack.dev/reference/block-kit/composition-objects/option-object */
const option = z.strictObject({ text: plainText(75), value: z.string().max(150) });

/** https://docs.slack.dev/reference/block-kit/composition-objects/option-group-object */
const optionGroup = z.strictObject({ label: plainText(75), options: z.array(option).min(1).max(100) });

const actionable = { action_id: z.string().max(255).optional() };

/** https://docs.slack.dev/reference/block-kit/block-elements/button-element */
export const button = z.strictObject({
  type: z.literal('button'),
  text: plainText(75),
  value: z.string().max(2000).optional(),
  url: z.url().max(3000).optional(),
  style: z.enum(['primary', 'danger']).optional(),
  ...actionable,
});

/** https://docs.slack.dev/reference/block-kit/block-elements/date-picker-element */
const datepicker = z.strictObject({
  type: z.literal('datepicker'),
  initial_date: z.iso.date().optional(),
  ...actionable,
});

/** https://docs.slack.dev/reference/block-kit/block-elements/select-menu-element */
const staticSelect = z
  .strictObject({
    type: z.literal('static_select'),
    options: z.array(option).min(1).max(100).optional(),
    option_groups: z.array(optionGroup).min(1).max(100).optional(),
    initial_option: option.optional(),
    ...actionable,
  })
  .superRefine(({ options, option_groups, initial_option }, context) => {
    if ((options === undefined) === (option_groups === undefined)) {
      context.addIssue({ code: 'custom', path: [], message: 'must define either `options` or `option_groups`' });
    }
    if (initial_option === undefined) return;
    const offered = [...(options ?? []), ...(option_groups ?? []).flatMap(({ options }) => options)];
    if (offered.some((option) => isDeepStrictEqual(option, initial_option))) return;
    context.addIssue({ code: 'custom', path: ['initial_option'], message: 'must match one of the options' });
  });

/**
 * https://docs.slack.dev/reference/block-kit/block-elements/plain-text-input-element. For `initial_value`, the page
 * gives no limit. A person cannot enter more than 3,000 characters or `max_length`, so the same limit is assumed here.
 */
const plainTextInput = z
  .strictObject({
    type: z.literal('plain_text_input'),
    initial_value: z.string().max(3000).optional(),
    multiline: z.boolean().optional(),
    max_length: z.int().min(1).max(3000).optional(),
    ...actionable,
  })
  .superRefine(({ initial_value = '', max_length }, context) => {
    if (max_length === undefined || initial_value.length <= max_length) return;
    context.addIssue({ code: 'custom', path: ['initial_value'], message: 'must not be longer than `max_length`' });
  });

/** https://docs.slack.dev/reference/block-kit/block-elements/number-input-element */
const numberInput = z.strictObject({
  type: z.literal('number_input'),
  is_decimal_allowed: z.boolean(),
  ...actionable,
});

/** https://docs.slack.dev/reference/block-kit/blocks/input-block */
/** https://docs.slack.dev/reference/block-kit/block-elements/multi-select-menu-element */
const multiStaticSelect = z.strictObject({
  type: z.literal('multi_static_select'),
  options: z.array(option).min(1).max(100),
  ...actionable,
});

const selects = [multiStaticSelect, staticSelect] as const;
export const inputElement = z.discriminatedUnion('type', [datepicker, numberInput, plainTextInput, ...selects]);
