import type { Button, KnownBlock, SectionBlock } from '@slack/types';
import { cutToLength, SENTENCE_END } from '../../text.ts';
import { escaped, linkTo } from './mrkdwn.ts';

/** A message in Block Kit, with its text for notifications. */
export interface SlackMessage {
  text: string;
  blocks: KnownBlock[];
}

/** https://docs.slack.dev/reference/block-kit/blocks/section-block */
const MAX_SECTION_LENGTH = 3_000;
/** https://docs.slack.dev/reference/block-kit/block-elements/button-element */
export const MAX_BUTTON_VALUE_LENGTH = 2_000;
const MAX_BUTTON_TEXT_LENGTH = 75;

/** @param mrkdwn text from outside must be escaped, and must be in code spans if it could contain formatting */
export function section(mrkdwn: string): SectionBlock {
  return { type: 'section', text: { type: 'mrkdwn', text: cutToLength(mrkdwn, MAX_SECTION_LENGTH, '…') } };
}

/** A section of plain text. Only emoji names have a meaning in it. */
export function plainSection(text: string): SectionBlock {
  return {
    type: 'section',
    text: { type: 'plain_text', text: cutToLength(text, MAX_SECTION_LENGTH, '…'), emoji: true },
  };
}

/** A message of sections, with a row of buttons if there are any. */
export function message(sections: SectionBlock | readonly SectionBlock[], ...buttons: Button[]): SlackMessage {
  const blocks: KnownBlock[] = [sections].flat();
  // Notifications show this text as mrkdwn.
  const text = [sections]
    .flat()
    .map(({ text }) => (text?.type === 'plain_text' ? escaped(text.text) : (text?.text ?? '')));
  if (buttons.length > 0) blocks.push({ type: 'actions', elements: buttons });
  return { text: cutToLength(text.join('\n'), MAX_SECTION_LENGTH, '…'), blocks };
}

/** A message of texts and links, without markup. https://docs.slack.dev/reference/block-kit/blocks/rich-text-block */
export function linkedMessage(parts: readonly (string | { text: string; url: string })[]): SlackMessage {
  let room = MAX_SECTION_LENGTH;
  const elements = parts.flatMap((part) => {
    const { url, text: whole } = typeof part === 'string' ? { text: part } : part;
    const text = cutToLength(whole, room, '…');
    room -= text.length;
    if (text === '') return [];
    return url === undefined ? { type: 'text' as const, text } : { type: 'link' as const, text, url };
  });
  const text = elements.map((one) => (one.type === 'text' ? escaped(one.text) : linkTo({ name: one.text, ...one })));
  return {
    text: text.join(''),
    blocks: [{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] }],
  };
}

/** Tells a person why something is not possible, and what to do about it. */
export function warning(mrkdwn: string): SlackMessage {
  return message(section(`:warning: ${mrkdwn}`));
}

export function button(text: string, actionId: string, value: string, style?: 'primary'): Button {
  return {
    type: 'button',
    text: { type: 'plain_text', text: cutToLength(text, MAX_BUTTON_TEXT_LENGTH, '…') },
    action_id: actionId,
    value,
    style,
  };
}

/**
 * Turns an outcome into a sentence. Outcomes begin in lowercase and without a full stop, because lists show them, too.
 */
export function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return SENTENCE_END.test(begun) ? begun : `${begun}.`;
}
