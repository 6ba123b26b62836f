import type { Button, KnownBlock } from '@slack/types';
import type { Said } from '../jobs/tell-person.ts';
import { cutToBytes } from '../text.ts';
import { escaped, time } from './mrkdwn.ts';

/** A message in Block Kit, and as text for notifications. */
export interface SlackMessage {
  text: string;
  blocks: KnownBlock[];
}

/** https://docs.slack.dev/reference/block-kit/blocks/section-block */
const MAX_SECTION_LENGTH = 3_000;
/** https://docs.slack.dev/reference/block-kit/block-elements/button-element */
export const MAX_BUTTON_VALUE_LENGTH = 2_000;
const MAX_BUTTON_TEXT_LENGTH = 75;

/** @param mrkdwn in which text from outside is escaped already */
export function section(mrkdwn: string): KnownBlock {
  // Cut by bytes, of which a text has no fewer than characters.
  return { type: 'section', text: { type: 'mrkdwn', text: cutToBytes(mrkdwn, MAX_SECTION_LENGTH, '…') } };
}

/** A message of one paragraph and, where there are any, a row of buttons. */
export function message(mrkdwn: string, ...buttons: Button[]): SlackMessage {
  const text = section(mrkdwn);
  return { text: mrkdwn, blocks: buttons.length > 0 ? [text, { type: 'actions', elements: buttons }] : [text] };
}

export function button(text: string, actionId: string, value: string, style?: 'primary'): Button {
  return {
    type: 'button',
    text: { type: 'plain_text', text: text.slice(0, MAX_BUTTON_TEXT_LENGTH) },
    action_id: actionId,
    value,
    ...(style && { style }),
  };
}

/** What becomes of a job, as the person who asked for it reads it. */
export function saidMessage(said: Said, contact: string): SlackMessage {
  switch (said.of) {
    case 'done': {
      const text = `:white_check_mark: ${escaped(sentence(said.text))}`;
      return said.blocks ? { text, blocks: said.blocks as KnownBlock[] } : message(text);
    }
    case 'not done':
      return message(`:warning: ${escaped(sentence(said.text))}`);
    case 'waiting':
      return message(
        `:hourglass: This has to wait: ${escaped(said.why)}. It goes on by itself, not before ${time(said.until)}.`,
      );
    case 'parked':
      return message(
        `:octagonal_sign: This could not be done: ${escaped(said.reason)}. It is kept, and ${escaped(contact)} can let it go on once the cause is mended.`,
      );
  }
}

/** Outcomes begin in lower case and end without a stop, as they stand in lists. */
export function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?)…]$/.test(begun) ? begun : `${begun}.`;
}
