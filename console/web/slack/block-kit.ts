import { seen } from '../outside.tsx';

/**
 * The parts of Block Kit that the relay sends (https://docs.slack.dev/reference/block-kit), read without trust: an
 * unknown block is shown by its type.
 */
export type Block =
  | { type: 'section'; text?: TextObject; accessory?: Element }
  | { type: 'actions'; elements: Element[] }
  | { type: 'other'; name: string };

export interface TextObject {
  type: 'plain_text' | 'mrkdwn';
  text: string;
}

export interface Element {
  type: string;
  action_id?: string;
  text?: TextObject;
  value?: string;
  url?: string;
  style?: string;
}

export function readBlock(block: Record<string, unknown>): Block {
  const isKnown = block.type === 'section' || block.type === 'actions';
  return isKnown ? (block as Block) : { type: 'other', name: String(block.type) };
}

/** Emoji that the relay uses. */
const emoji = new Map(
  Object.entries({
    white_check_mark: '✅',
    warning: '⚠️',
    hourglass: '⌛',
    hourglass_flowing_sand: '⏳',
    link: '🔗',
    no_bell: '🔕',
    question: '❓',
    octagonal_sign: '🛑',
    clock4: '🕓',
  }),
);

/** A text that can be shown: names of links and mentions, nothing escaped. Formatting marks stay. */
export function plainText({ type, text }: TextObject): string {
  const named = seen(text).replaceAll(/:([a-z0-9_]+):/g, (all, name: string) => emoji.get(name) ?? all);
  if (type === 'plain_text') return named;
  return named
    .replaceAll(/<([^<>|]*)(?:\|([^<>]*))?>/g, (_, target: string, label: string | undefined) => {
      if (/^[@#!]/.test(target)) return label ?? target;
      return label && label !== target ? `${label} (${target})` : target;
    })
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
