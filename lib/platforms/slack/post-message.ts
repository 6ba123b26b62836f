import * as z from 'zod/mini';
import type { SlackMessage } from './messages.ts';
import { type SlackApi, SlackRefusal } from './slack-api.ts';

/** How the message was delivered. */
export type SentMessage = { by: 'direct message'; channel: string; ts: string } | { leftOut: string };

const posted = z.object({ channel: z.string(), ts: z.string() });
const opened = z.object({ channel: z.object({ id: z.string() }) });
const history = z.object({
  messages: z.array(
    z.object({
      ts: z.string(),
      metadata: z.optional(z.object({ event_payload: z.object({ id: z.optional(z.string()) }) })),
    }),
  ),
  response_metadata: z.nullish(z.object({ next_cursor: z.optional(z.string()) })),
});

/** The assumed maximum difference between Slack's clock and ours. */
const CLOCKS_DIFFER_SECONDS = 300;
const PAGE_SIZE = 200;
/** Other people post in the lead's channel, too. A search usually happens minutes after the message. */
const PAGES = 10;
/**
 * Refusals for a person who is no longer in the workspace, or is a bot. All other refusals concern the app or the
 * channel, so an operator has to act: `account_inactive` is about the token.
 * https://docs.slack.dev/reference/methods/chat.postMessage
 */
const NOBODY = /^(channel_not_found|user_not_found|users_not_found|user_disabled|cannot_dm_bot)$/;

/**
 * Sends a message to a person or a channel once. The message's metadata contain an id, and a second attempt first
 * searches for it.
 */
export function slackMessage(
  to: { userId: string } | { channelId: string },
  id: string,
  message: SlackMessage,
  slack: SlackApi,
) {
  async function findIn(channel: string, since: number): Promise<SentMessage | undefined> {
    const oldest = String(since / 1000 - CLOCKS_DIFFER_SECONDS);
    let cursor: string | undefined;
    for (let page = 1; page <= PAGES; page++) {
      const fields = { channel, oldest, cursor, limit: PAGE_SIZE, include_all_metadata: true };
      const { messages, response_metadata } = await slack.call('conversations.history', fields, history);
      const mine = messages.find(({ metadata }) => metadata?.event_payload.id === id);
      if (mine) return { by: 'direct message', channel, ts: mine.ts };
      cursor = response_metadata?.next_cursor;
      if (!cursor) return undefined;
    }
    return undefined;
  }

  async function findForPerson(userId: string, since: number): Promise<SentMessage | undefined> {
    try {
      const { channel } = await slack.call('conversations.open', { users: userId }, opened);
      return await findIn(channel.id, since);
    } catch (error) {
      // If the search is refused, the message is sent again: twice is better than not at all.
      if (error instanceof SlackRefusal) return undefined;
      throw error;
    }
  }

  return {
    calls: 'Slack message',
    find: (since: number) => ('channelId' in to ? findIn(to.channelId, since) : findForPerson(to.userId, since)),
    /** @param ensureTime called right before the request leaves; throws if it must not */
    async make(ensureTime: () => void): Promise<SentMessage> {
      const fields = {
        channel: 'channelId' in to ? to.channelId : to.userId,
        text: message.text,
        blocks: message.blocks,
        metadata: { event_type: 'partner_relay', event_payload: { id } },
        unfurl_links: false,
        unfurl_media: false,
      };
      try {
        return { by: 'direct message', ...(await slack.call('chat.postMessage', fields, posted, ensureTime)) };
      } catch (error) {
        if (!(error instanceof SlackRefusal) || 'channelId' in to || !NOBODY.test(error.error)) throw error;
        return { leftOut: `Slack cannot deliver it to this person (${error.error})` };
      }
    },
  };
}

/** Updates a message, if possible. A refusal is only recorded. @returns the result for the records */
export async function updateIfPossible(
  sent: { channel: string; ts: string } | { leftOut: string },
  message: SlackMessage,
  slack: SlackApi,
): Promise<string> {
  if ('leftOut' in sent) return sent.leftOut;
  const { channel, ts } = sent;
  try {
    await slack.call('chat.update', { channel, ts, ...message }, z.object({}));
    return 'updated';
  } catch (error) {
    return String(error);
  }
}
