import type { KnownBlock } from '@slack/types';
import * as z from 'zod/mini';
import type { Page } from '../../config/pages.ts';
import { parkingInWords, waitInWords } from '../../engine/record/in-plain-words.ts';
import { StepFailed } from '../../engine/record/interruption.ts';
import { askedIn, type Job, type ReplyTo, shortName } from '../../engine/record/job.ts';
import type { Reply } from '../../engine/run/reply-steps.ts';
import type { ReplyContent } from '../../engine/run/tell-person.ts';
import type { Secrets } from '../../state/secrets/secrets.ts';
import { linkButton } from './link-messages.ts';
import { message, plainSection, type SlackMessage, section, sentence } from './messages.ts';
import { code, linkTo, time } from './mrkdwn.ts';
import { createResponseUrls, RESPONSE_URL_LIVES_MS, unsealUrl } from './response-url.ts';
import { type SlackApi, SlackRefusal } from './slack-api.ts';
import { withJobErrors } from './with-job-errors.ts';

/** How the message was delivered. */
type SentReply = { by: 'response_url' } | { by: 'direct message'; channel: string; ts: string } | { leftOut: string };

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
      metadata: z.optional(z.object({ event_payload: z.object({ id: z.optional(z.string()) }) })),
    }),
  ),
  response_metadata: z.nullish(z.object({ next_cursor: z.optional(z.string()) })),
});

/** The assumed maximum difference between Slack's clock and ours. */
const CLOCKS_DIFFER_SECONDS = 300;
const PAGE_SIZE = 200;
/** Other people post in the lead's channel too. A message is usually searched for within minutes. */
const PAGES = 10;
/**
 * The person is no longer in the workspace, or is a bot. All other refusals concern the app or the channel and are for
 * the operator: `account_inactive` is about the token. https://docs.slack.dev/reference/methods/chat.postMessage
 */
const NOBODY = /^(channel_not_found|user_not_found|users_not_found|user_disabled|cannot_dm_bot)$/;

/**
 * Sends a message to a person or a channel once. The message has an id in its metadata, and a second try searches for
 * this id first.
 */
export function slackMessage(
  to: { userId: string } | { channelId: string },
  id: string,
  message: SlackMessage,
  { slack, clock }: DirectMessagesOptions,
): Reply<SentReply> {
  async function findIn(channel: string, since: number): Promise<SentReply | undefined> {
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

  async function findForPerson(userId: string, since: number): Promise<SentReply | undefined> {
    try {
      const { channel } = await slack.call('conversations.open', { users: userId }, opened);
      return await findIn(channel.id, since);
    } catch (error) {
      // Telling a person twice is better than not at all.
      if (error instanceof SlackRefusal) return undefined;
      throw error;
    }
  }

  return {
    calls: 'Slack message',
    find: (since) =>
      withJobErrors(clock, () => ('channelId' in to ? findIn(to.channelId, since) : findForPerson(to.userId, since))),
    make: (ensureTime) =>
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
          return { by: 'direct message', ...(await slack.call('chat.postMessage', fields, posted, ensureTime)) };
        } catch (error) {
          if (!(error instanceof SlackRefusal) || 'channelId' in to || !NOBODY.test(error.error)) throw error;
          return { leftOut: `Slack cannot deliver it to this person (${error.error})` };
        }
      }),
  };
}

export interface SlackRepliesOptions extends DirectMessagesOptions {
  /** The URL of the Web API. */
  apiUrl: string;
  fetch: typeof globalThis.fetch;
  secrets: Secrets;
  /** The contact that messages name. */
  contact: string;
}

/** Replies to people in Slack: where they asked while that is possible, and as a direct message after that. */
export function createSlackReplies({ slack, clock, apiUrl, fetch, secrets, contact }: SlackRepliesOptions) {
  const responseUrls = createResponseUrls(apiUrl, fetch);

  /** Where the person asked, while a reply can go there. */
  async function responseUrlOf(job: Job, { responseUrl: sealed }: ReplyTo & { in: 'slack' }) {
    if (sealed === undefined || clock() >= job.createdAt + RESPONSE_URL_LIVES_MS) return undefined;
    const url = await unsealUrl(sealed, job.id, secrets);
    return url !== undefined && responseUrls.isOurs(url) ? url : undefined;
  }

  return async function replyInSlack(
    job: Job,
    to: ReplyTo & { in: 'slack' },
    said: ReplyContent,
    pages: readonly Page[],
  ): Promise<Reply<SentReply> | { calls: string; leftOut: string }> {
    const told = saidMessage(said, contact, job, pages);
    const message = 'link' in said && said.link ? withLinkButton(told, job.connection, said.link) : told;
    const responseUrl = await responseUrlOf(job, to);
    const hasToken = await slack.isThere();
    if (responseUrl === undefined && !hasToken) {
      return { calls: 'Slack message', leftOut: 'the slack secret has no botToken, so nothing can be sent' };
    }
    const direct = slackMessage({ userId: to.userId }, idOf(job, said), message, { slack, clock });
    if (responseUrl === undefined) return direct;
    return {
      calls: 'Slack message',
      // A message to a response_url cannot be searched for. Sending it twice is better than not at all.
      find: async (since) => (hasToken ? direct.find(since) : undefined),
      async make(ensureTime) {
        const status = await responseUrls.respond(responseUrl, message, 'instead');
        if (status !== undefined && status < 300) return { by: 'response_url' };
        if (status === undefined || status === 429 || status >= 500) {
          throw new StepFailed(`Slack refused the reply (${status ?? 'no answer'})`);
        }
        // The response_url is used up or was closed early.
        return hasToken ? direct.make(ensureTime) : { leftOut: `Slack no longer accepts the reply (${status})` };
      },
    };
  };
}

const withLinkButton = (
  { text, blocks }: SlackMessage,
  connection: string,
  scopes: readonly string[],
): SlackMessage => ({
  text,
  blocks: [...blocks, { type: 'actions', elements: [linkButton(connection, scopes)] }],
});

/** A replayed job reports its outcome only once, but reports again what it waits for or why it is parked. */
function idOf(job: Job, said: ReplyContent): string {
  if (said.of === 'waiting') return `${job.id} waiting ${said.until}`;
  return said.of === 'parked' ? `${job.id} parked ${job.generation}` : job.id;
}

/** The news of a job, as a message to the person who asked. */
function saidMessage(
  said: ReplyContent,
  contact: string,
  job: Pick<Job, 'id' | 'summary'>,
  pages: readonly Page[],
): SlackMessage {
  switch (said.of) {
    case 'done':
    case 'not done': {
      const emoji = said.of === 'done' ? ':white_check_mark:' : ':warning:';
      const links = pages.length > 0 ? [section(pages.map(linkTo).join(', '))] : [];
      const words = said.of === 'done' ? (said.told ?? said.text) : said.text;
      const told = message([plainSection(`${emoji} ${sentence(words)}`), ...links]);
      return said.blocks ? { text: told.text, blocks: said.blocks as KnownBlock[] } : told;
    }
    case 'waiting': {
      // The time of the next probe is not that of the end of an outage. Any other is the earliest: the message stays.
      const until = said.waitsFor === 'outage' || said.waitsFor === 'key' ? undefined : said.until;
      const when = until === undefined ? '' : `, at about ${time(until)} at the earliest`;
      const why = waitInWords[said.waitsFor].toPerson;
      return message(
        section(`:hourglass: ${code(askedIn(job))} has to wait: ${why}. It continues automatically${when}.`),
      );
    }
    case 'parked':
      return message(
        plainSection(
          `:octagonal_sign: ${parkingInWords[said.kind].toPerson} It is saved as job ${shortName(job.id)}, and ${contact} can see why and let it go on.${said.kind === 'outcome unknown' ? ' Do not ask for it again before that, or it may be done twice.' : ''}`,
        ),
      );
  }
}
