import type { KnownBlock } from '@slack/types';
import { renderElement } from '../../local/slack/render.ts';
import type { SlackStandIn } from '../../local/slack/stand-in.ts';

const SHOWN_MESSAGES = 100;

/** Emoji that the relay uses. */
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

/** The messages that the stand-in got, newest first. */
export function messagesOf({ messages, users, channels }: SlackStandIn) {
  const name = (id: string) => users.get(id)?.name ?? `#${channels.get(id)?.name ?? id}`;
  return messages
    .slice(-SHOWN_MESSAGES)
    .toReversed()
    .map(({ channel, ts, userId, text, blocks = [] }) => {
      const parts = blocks.length > 0 ? blocks.map(partOf) : [{ text: withEmoji(text), buttons: [] }];
      return { channel, ts, to: name(userId ?? channel), parts };
    });
}

/** A part of a message as the terminal shows it, with its buttons. */
function partOf(block: KnownBlock) {
  if (block.type === 'actions') return { text: '', buttons: block.elements.flatMap(buttonOf) };
  if (block.type !== 'section') return { text: `(${block.type})`, buttons: [] };
  const text = block.text ? withEmoji(renderElement(block.text)) : '';
  return { text, buttons: block.accessory ? buttonOf(block.accessory) : [] };
}

function buttonOf(element: Parameters<typeof renderElement>[0]) {
  if (element.type !== 'button') return [];
  const { text, action_id: actionId = '', value, url, style } = element;
  return [{ label: withEmoji(text.text), actionId, value, url, isPrimary: style === 'primary' }];
}
