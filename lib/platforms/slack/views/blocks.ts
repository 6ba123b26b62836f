import type { InputBlock, ModalView, PlainTextOption } from '@slack/types';
import { cutToLength } from '../../../text.ts';

/** The most options in a list: https://docs.slack.dev/reference/block-kit/block-elements/select-menu-element */
export const MAX_OPTIONS = 100;
/** https://docs.slack.dev/reference/block-kit/composition-objects/option-object */
const MAX_OPTION_LENGTH = 75;

export function option(label: string, value: string): PlainTextOption {
  return { text: { type: 'plain_text', text: cutToLength(label, MAX_OPTION_LENGTH, '…') || value }, value };
}

/** @param memory returned by Slack with the person's input; up to 3,000 characters */
export function modal(
  id: string,
  memory: object,
  { title, submit }: { title: string; submit: string },
  blocks: ModalView['blocks'],
): ModalView {
  return {
    type: 'modal',
    callback_id: id,
    private_metadata: JSON.stringify(memory),
    title: { type: 'plain_text', text: title },
    submit: { type: 'plain_text', text: submit },
    close: { type: 'plain_text', text: 'Cancel' },
    blocks,
  };
}

export function input(
  block: string,
  label: string,
  element: InputBlock['element'],
  { hint, optional }: { hint?: string | undefined; optional?: boolean | undefined } = {},
): InputBlock {
  return {
    type: 'input',
    block_id: block,
    label: { type: 'plain_text', text: label },
    ...(hint && { hint: { type: 'plain_text', text: hint } }),
    ...(optional && { optional }),
    element,
  };
}
