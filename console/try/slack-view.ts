import type { SlackStandIn } from '../../local/slack/stand-in.ts';

const SHOWN_MESSAGES = 100;

/** The messages that the stand-in got, newest first. */
export function messagesOf({ messages, users, channels }: SlackStandIn) {
  const name = (id: string) => users.get(id)?.name ?? `#${channels.get(id)?.name ?? id}`;
  return messages
    .slice(-SHOWN_MESSAGES)
    .toReversed()
    .map(({ channel, ts, userId, text, blocks = [] }) => {
      return {
        channel,
        ts,
        to: name(userId ?? channel),
        text,
        blocks: blocks.map((block): Record<string, unknown> => ({ ...block })),
      };
    });
}
