import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import {
  buttonStyle,
  choiceOption,
  confirmationDialog,
  dispatchActionConfig,
  menuOption,
  optionGroup,
  overflowOption,
  plainText,
} from './composition-objects.ts';

/**
 * Elements of Block Kit, one page each below https://docs.slack.dev/reference/block-kit/block-elements. There are those
 * that a form or a message of the relay may need; any other is refused, also where Slack knows it.
 */

const actionable = { action_id: z.string().max(255).optional() };
const confirmable = { confirm: confirmationDialog.optional() };
const focusable = { focus_on_load: z.boolean().optional() };
const placeholdable = { placeholder: plainText(150).optional() };
const responseUrl = { response_url_enabled: z.boolean().optional() };
const maxSelected = { max_selected_items: z.int().min(1).optional() };

/** button-element */
const button = z.strictObject({
  type: z.literal('button'),
  text: plainText(75),
  url: z.string().max(3000).optional(),
  value: z.string().max(2000).optional(),
  style: buttonStyle.optional(),
  accessibility_label: z.string().max(75).optional(),
  ...actionable,
  ...confirmable,
});

/** checkboxes-element */
const checkboxes = z
  .strictObject({
    type: z.literal('checkboxes'),
    options: z.array(choiceOption).min(1).max(10),
    initial_options: z.array(choiceOption).min(1).optional(),
    ...actionable,
    ...confirmable,
    ...focusable,
  })
  .superRefine(chosenAmongOptions);

/** radio-button-group-element */
const radioButtons = z
  .strictObject({
    type: z.literal('radio_buttons'),
    options: z.array(choiceOption).min(1).max(10),
    initial_option: choiceOption.optional(),
    ...actionable,
    ...confirmable,
    ...focusable,
  })
  .superRefine(chosenAmongOptions);

/** date-picker-element */
const datepicker = z.strictObject({
  type: z.literal('datepicker'),
  initial_date: z.iso.date().optional(),
  ...actionable,
  ...confirmable,
  ...focusable,
  ...placeholdable,
});

/** time-picker-element */
const timepicker = z.strictObject({
  type: z.literal('timepicker'),
  initial_time: z
    .string()
    .regex(/^([01]\d|2[0-3]):[0-5]\d$/)
    .optional(),
  timezone: z.string().optional(),
  ...actionable,
  ...confirmable,
  ...focusable,
  ...placeholdable,
});

/** image-element */
const image = z.strictObject({
  type: z.literal('image'),
  image_url: z.string().min(1).max(3000),
  alt_text: z.string().min(1).max(2000),
});

/** overflow-menu-element */
const overflow = z.strictObject({
  type: z.literal('overflow'),
  options: z.array(overflowOption).min(1).max(5),
  ...actionable,
  ...confirmable,
});

const menuFields = {
  options: z.array(menuOption).min(1).max(100).optional(),
  option_groups: z.array(optionGroup).min(1).max(100).optional(),
  ...actionable,
  ...confirmable,
  ...focusable,
  ...placeholdable,
};

/** select-menu-element */
const staticSelect = z
  .strictObject({ type: z.literal('static_select'), initial_option: menuOption.optional(), ...menuFields })
  .superRefine(optionsOrGroups)
  .superRefine(chosenAmongOptions);

/** multi-select-menu-element */
const multiStaticSelect = z
  .strictObject({
    type: z.literal('multi_static_select'),
    initial_options: z.array(menuOption).min(1).optional(),
    ...menuFields,
    ...maxSelected,
  })
  .superRefine(optionsOrGroups)
  .superRefine(chosenAmongOptions);

const usersSelect = z.strictObject({
  type: z.literal('users_select'),
  initial_user: z.string().optional(),
  ...actionable,
  ...confirmable,
  ...focusable,
  ...placeholdable,
});

const channelsSelect = z.strictObject({
  type: z.literal('channels_select'),
  initial_channel: z.string().optional(),
  ...actionable,
  ...confirmable,
  ...focusable,
  ...placeholdable,
  ...responseUrl,
});

/** number-input-element */
const numberInput = z.strictObject({
  type: z.literal('number_input'),
  is_decimal_allowed: z.boolean(),
  initial_value: z.string().optional(),
  min_value: z.string().optional(),
  max_value: z.string().optional(),
  dispatch_action_config: dispatchActionConfig.optional(),
  ...actionable,
  ...focusable,
  ...placeholdable,
});

/**
 * plain-text-input-element. For `initial_value` the page gives no number: nobody can enter more than 3,000 characters, or
 * than `max_length`, so no more is taken as a beginning (assumed).
 */
const plainTextInput = z
  .strictObject({
    type: z.literal('plain_text_input'),
    initial_value: z.string().max(3000).optional(),
    multiline: z.boolean().optional(),
    min_length: z.int().min(0).max(3000).optional(),
    max_length: z.int().min(1).max(3000).optional(),
    dispatch_action_config: dispatchActionConfig.optional(),
    ...actionable,
    ...focusable,
    ...placeholdable,
  })
  .superRefine(({ initial_value = '', max_length }, context) => {
    if (max_length === undefined || initial_value.length <= max_length) return;
    context.addIssue({ code: 'custom', path: ['initial_value'], message: 'must not be longer than `max_length`' });
  });

/** What a person uses wherever it stands. */
const interactive = [
  checkboxes,
  datepicker,
  multiStaticSelect,
  radioButtons,
  staticSelect,
  timepicker,
  usersSelect,
  channelsSelect,
] as const;

/** https://docs.slack.dev/reference/block-kit/blocks/actions-block */
export const actionsElement = z.discriminatedUnion('type', [...interactive, button, overflow]);

/** https://docs.slack.dev/reference/block-kit/blocks/section-block */
export const accessory = z.discriminatedUnion('type', [...interactive, button, overflow, image]);

/** https://docs.slack.dev/reference/block-kit/blocks/input-block */
export const inputElement = z.discriminatedUnion('type', [...interactive, numberInput, plainTextInput]);

export const contextImage = image;

function optionsOrGroups(menu: { options?: unknown; option_groups?: unknown }, context: z.RefinementCtx): void {
  if ((menu.options === undefined) !== (menu.option_groups === undefined)) return;
  context.addIssue({ code: 'custom', path: [], message: 'must define either `options` or `option_groups`' });
}

interface Choice {
  options?: readonly unknown[] | undefined;
  option_groups?: readonly { options: readonly unknown[] }[] | undefined;
  initial_option?: unknown;
  initial_options?: readonly unknown[] | undefined;
}

/** "Exactly matches one of the options", says the page of each of them. */
function chosenAmongOptions(choice: Choice, context: z.RefinementCtx): void {
  const offered = [...(choice.options ?? []), ...(choice.option_groups ?? []).flatMap(({ options }) => options)];
  const check = (chosen: unknown, path: string[]) => {
    if (offered.some((option) => isDeepStrictEqual(option, chosen))) return;
    context.addIssue({ code: 'custom', path, message: 'must match one of the options' });
  };
  if (choice.initial_option !== undefined) check(choice.initial_option, ['initial_option']);
  for (const chosen of choice.initial_options ?? []) check(chosen, ['initial_options']);
}
