import * as z from 'zod';
import { StepFailed } from '../jobs/interruption.ts';
import type { Job, ReplyTo } from '../jobs/job.ts';
import type { Reply } from '../jobs/steps.ts';
import type { ReplyContent } from '../jobs/tell-person.ts';
import { linkMessage } from './link-messages.ts';
import { type SlackMessage, saidMessage, sentence } from './messages.ts';
import { createResponseUrls, RESPONSE_URL_LIVES_MS } from './response-url.ts';
import { type SlackApi, SlackRefusal } from './slack-api.ts';
import { withJobErrors } from './with-job-errors.ts';

/** How a message got to the person. */
type Sent = { by: 'response_url' } | { by: 'direct message'; channel: string; ts: string } | { leftOut: string };

export interface DirectMessagesOptions {
  slack: SlackApi;
  clock: () => number;
}

const posted = z.object({ channel: z.string(), ts: z.string() });
const opened = z.object({ channel: z.object({ id: z.string() }) });
const history = z.object({
  messages: z.array(
    z.object({
      ts: z.string(),
      metadata: z.object({ event_payload: z.object({ id: z.string().optional() }) }).optional(),
    }),
  ),
  response_metadata: z.object({ next_cursor: z.string().optional() }).nullish(),
});

/** How far Slack's clock may be from ours. */
const CLOCKS_DIFFER_SECONDS = 300;
const PAGE_SIZE = 200;
/** Others write in the lead's channel too; a message is looked for within minutes, as a rule. */
const PAGES = 10;
/**
 * The person is no more in the workspace, or is a bot. Everything else that Slack refuses is about the app or the channel,
 * for whoever looks after the relay: `account_inactive` is said of the token.
 * https://docs.slack.dev/reference/methods/chat.postMessage
 */
const NOBODY = /^(channel_not_found|user_not_found|users_not_found|user_disabled|cannot_dm_bot)$/;

/**
 * A message to a person or a channel, once: it carries an id in its metadata, by which it is looked for before it is
 * sent a second time.
 */
export function slackMessage(
  to: { userId: string } | { channelId: string },
  id: string,
  message: SlackMessage,
  { slack, clock }: DirectMessagesOptions,
): Reply<Sent> {
  async function findIn(channel: string, since: number): Promise<Sent | undefined> {
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

  async function findForPerson(userId: string, since: number): Promise<Sent | undefined> {
    try {
      const { channel } = await slack.call('conversations.open', { users: userId }, opened);
      return await findIn(channel.id, since);
    } catch (error) {
      // A person is told twice rather than not at all.
      if (error instanceof SlackRefusal) return undefined;
      throw error;
    }
  }

  return {
    calls: 'Slack message',
    find: (since) =>
      withJobErrors(clock, () => ('channelId' in to ? findIn(to.channelId, since) : findForPerson(to.userId, since))),
    make: () =>
      withJobErrors(clock, async () => {
        const fields = {
          channel: 'channelId' in to ? to.channelId : to.userId,
          text: message.text,
          blocks: message.blocks,
          metadata: { event_type: 'partner_relay', event_payload: { id } },
          unfurl_links: false,
          unfurl_media: false,
        };
        try {
          return { by: 'direct message', ...(await slack.call('chat.postMessage', fields, posted)) };
        } catch (error) {
          if (!(error instanceof SlackRefusal) || 'channelId' in to || !NOBODY.test(error.error)) throw error;
          return { leftOut: `Slack has nobody to send it to (${error.error})` };
        }
      }),
  };
}

export interface SlackRepliesOptions extends DirectMessagesOptions {
  /** Of the Web API. */
  apiUrl: string;
  fetch: typeof globalThis.fetch;
  /** Whom people are told to ask. */
  contact: string;
}

/** Replies to people in Slack: where they asked as long as that is possible, and then as a direct message. */
export function createSlackReplies({ slack, clock, apiUrl, fetch, contact }: SlackRepliesOptions) {
  const responseUrls = createResponseUrls(apiUrl, fetch);
  return async function replyInSlack(
    job: Job,
    to: ReplyTo & { in: 'slack' },
    said: ReplyContent,
  ): Promise<Reply<Sent> | { calls: string; leftOut: string }> {
    const message = said.of === 'link awaited' ? linkAwaitedMessage(job.connection, said) : saidMessage(said, contact);
    const isOpen =
      to.responseUrl !== undefined &&
      responseUrls.isOurs(to.responseUrl) &&
      clock() < job.createdAt + RESPONSE_URL_LIVES_MS;
    const hasToken = await slack.isThere();
    if (!isOpen && !hasToken) {
      return { calls: 'Slack message', leftOut: 'the slack secret has no botToken, and nothing can be sent without' };
    }
    const direct = slackMessage({ userId: to.userId }, idOf(job, said), message, { slack, clock });
    if (!isOpen || to.responseUrl === undefined) return direct;
    const { responseUrl } = to;
    return {
      calls: 'Slack message',
      // What went to a response_url cannot be looked for; saying it again is better than not at all.
      find: async (since) => (hasToken ? direct.find(since) : undefined),
      async make() {
        const status = await responseUrls.respond(responseUrl, message, 'instead');
        if (status !== undefined && status < 300) return { by: 'response_url' };
        if (status === undefined || status === 429 || status >= 500) {
          throw new StepFailed(`Slack does not take the reply (${status ?? 'no answer'})`);
        }
        // Used up, or closed early.
        return hasToken ? direct.make() : { leftOut: `Slack does not take the reply any more (${status})` };
      },
    };
  };
}

function linkAwaitedMessage(
  connection: string,
  { why, scopes }: Extract<ReplyContent, { of: 'link awaited' }>,
): SlackMessage {
  return linkMessage(
    `${sentence(why)} This goes on once you have linked your account, within a day.`,
    connection,
    scopes,
  );
}

/** A job that was replayed tells its outcome once, but what it waits for or is parked for anew. */
function idOf(job: Job, said: ReplyContent): string {
  if (said.of === 'waiting') return `${job.id} waiting ${said.until}`;
  if (said.of === 'link awaited') return `${job.id} link awaited ${said.why}`;
  return said.of === 'parked' ? `${job.id} parked ${job.generation}` : job.id;
}
