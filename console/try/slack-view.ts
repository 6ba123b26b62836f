import type { KnownBlock } from '@slack/types';
import { plain } from '../../lib/platforms/slack/mrkdwn.ts';
import type { renderElement } from '../../local/slack/render.ts';
import type { SlackStandIn } from '../../local/slack/stand-in.ts';

const SHOWN_MESSAGES = 30;

/** The emoji that the relay uses. */
const EMOJI = new Map(
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

const withEmoji = (text: string) => text.replaceAll(/:([a-z0-9_]+):/g, (all, name: string) => EMOJI.get(name) ?? all);

/** The messages in the stand-in, newest first. */
export function messagesOf({ messages, users, channels }: SlackStandIn) {
  const name = (id: string) => users.get(id)?.name ?? `#${channels.get(id)?.name ?? id}`;
  return messages
    .slice(-SHOWN_MESSAGES)
    .toReversed()
    .map(({ channel, ts, userId, text, blocks = [] }) => {
      const parts = blocks.length > 0 ? blocks.map(partOf) : [{ text: marked(text), buttons: [] }];
      return { channel, ts, to: name(userId ?? channel), parts };
    });
}

/** A part of a message, with its buttons. */
function partOf(block: KnownBlock) {
  if (block.type === 'actions') return { text: [], buttons: block.elements.flatMap(buttonOf) };
  if (block.type !== 'section') return { text: [{ text: `(${block.type})` }], buttons: [] };
  const { type, text = '' } = block.text ?? {};
  const shown = type === 'plain_text' ? [{ text: withEmoji(text) }] : marked(text);
  return { text: shown, buttons: block.accessory ? buttonOf(block.accessory) : [] };
}

/** `*bold*`, code, and links. */
const MARKS = /((?<![\w*])\*[^*\n]+\*(?![\w*])|`[^`\n]+`|<https?:[^<>|]*\|[^<>]*>)/;

/** Splits the text of a message into parts with one format each. */
function marked(mrkdwn: string): { text: string; is?: 'bold' | 'code'; url?: string }[] {
  const readable = (text: string) => withEmoji(plain(text));
  return mrkdwn.split(MARKS).flatMap((part, index) => {
    if (part === '') return [];
    // The odd parts are the marks.
    if (index % 2 === 0) return [{ text: readable(part) }];
    const inside = part.slice(1, -1);
    if (part.startsWith('*')) return [{ text: readable(inside), is: 'bold' }];
    if (part.startsWith('`')) return [{ text: plain(inside), is: 'code' }];
    const [url = '', label = ''] = inside.split('|').map(plain);
    return [{ text: label, url }];
  });
}

function buttonOf(element: Parameters<typeof renderElement>[0]) {
  if (element.type !== 'button') return [];
  const { text, action_id: actionId = '', value, url, style } = element;
  return [{ label: withEmoji(text.text), actionId, value, url, isPrimary: style === 'primary' }];
}
