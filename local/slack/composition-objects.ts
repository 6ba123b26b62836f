import * as z from 'zod';

/**
 * Composition objects of Block Kit, as https://docs.slack.dev/reference/block-kit/composition-objects describes them.
 * Slack does not say what it takes for a character; here it is a UTF-16 code unit, of which there are never fewer.
 */

/** https://docs.slack.dev/reference/block-kit/composition-objects/text-object */
export const plainText = (maxLength: number) =>
  z.strictObject({
    type: z.literal('plain_text'),
    text: z.string().min(1).max(maxLength),
    emoji: z.boolean().optional(),
  });

const mrkdwn = (maxLength: number) =>
  z.strictObject({
    type: z.literal('mrkdwn'),
    text: z.string().min(1).max(maxLength),
    verbatim: z.boolean().optional(),
  });

export const anyText = (maxLength: number) => z.discriminatedUnion('type', [plainText(maxLength), mrkdwn(maxLength)]);

/** https://docs.slack.dev/reference/block-kit/composition-objects/option-object */
const optionFields = {
  text: plainText(75),
  value: z.string().max(150),
  description: plainText(75).optional(),
};

/** Of a select menu. */
export const menuOption = z.strictObject(optionFields);

/** Of an overflow menu. */
export const overflowOption = z.strictObject({ ...optionFields, url: z.string().max(3000).optional() });

/** Of radio buttons and checkboxes. */
export const choiceOption = z.strictObject({
  ...optionFields,
  text: anyText(75),
  description: anyText(75).optional(),
});

/** https://docs.slack.dev/reference/block-kit/composition-objects/option-group-object */
export const optionGroup = z.strictObject({ label: plainText(75), options: z.array(menuOption).min(1).max(100) });

export const buttonStyle = z.enum(['primary', 'danger']);

/** https://docs.slack.dev/reference/block-kit/composition-objects/confirmation-dialog-object */
export const confirmationDialog = z.strictObject({
  title: plainText(100),
  text: anyText(300),
  confirm: plainText(30),
  deny: plainText(30),
  style: buttonStyle.optional(),
});

/** https://docs.slack.dev/reference/block-kit/composition-objects/dispatch-action-configuration-object */
export const dispatchActionConfig = z.strictObject({
  trigger_actions_on: z.array(z.enum(['on_enter_pressed', 'on_character_entered'])).min(1),
});
