import type { KnownBlock } from '@slack/types';
import type { Page } from '../config/pages.ts';
import { parkedToPerson, waitToPerson } from '../engine/record/in-plain-words.ts';
import { StepFailed } from '../engine/record/interruption.ts';
import { askedIn, type Job, type ReplyTo, shortName } from '../engine/record/job.ts';
import type { Reply } from '../engine/run/reply-steps.ts';
import type { ReplyContent } from '../engine/run/tell-person.ts';
import { linkButton } from '../platforms/slack/link-messages.ts';
import { message, plainSection, type SlackMessage, section, sentence } from '../platforms/slack/messages.ts';
import { code, escaped, linkTo, nextMinute } from '../platforms/slack/mrkdwn.ts';
import { slackMessage } from '../platforms/slack/post-message.ts';
import { createResponseUrls, RESPONSE_URL_LIVES_MS } from '../platforms/slack/response-url.ts';
import { unsealText } from '../platforms/slack/sealed-text.ts';
import type { SlackApi } from '../platforms/slack/slack-api.ts';
import type { Secrets } from '../state/secrets/secrets.ts';

type SentReply = { by: 'response_url' } | Awaited<ReturnType<ReturnType<typeof slackMessage>['make']>>;

export interface SlackRepliesOptions {
  slack: SlackApi;
  clock: () => number;
  apiUrl: string;
  fetch: typeof globalThis.fetch;
  secrets: Secrets;
  contact: string;
}

/**
 * Replies to people in Slack: in the place where they asked while that is possible, and later with a direct message.
 */
export function createSlackReplies({ slack, clock, apiUrl, fetch, secrets, contact }: SlackRepliesOptions) {
  const responseUrls = createResponseUrls(apiUrl, fetch);

  /** Returns the response_url for the place where the person asked, while it accepts replies. */
  async function responseUrlOf(job: Job, { responseUrl: sealed }: ReplyTo & { in: 'slack' }) {
    if (sealed === undefined || clock() >= job.createdAt + RESPONSE_URL_LIVES_MS) return undefined;
    const url = await unsealText('response_url', sealed, [job.id], secrets);
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
    const direct = slackMessage({ userId: to.userId }, idOf(job, said), message, slack);
    if (responseUrl === undefined) return direct;
    return {
      calls: 'Slack message',
      // A message to a response_url cannot be searched for. Twice is better than not at all.
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

/**
 * Identifies a message. A replayed job reports its outcome only once, but reports waits and the reason for parking
 * again.
 */
function idOf(job: Job, said: ReplyContent): string {
  if (said.of === 'waiting') return `${job.id} waiting ${said.until}`;
  return said.of === 'parked' ? `${job.id} parked ${job.generation}` : job.id;
}

/** Formats a job's news for the person who asked. */
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
      const words = said.of === 'done' ? (said.inSlack ?? said.text) : said.text;
      // Several requests may get this answer at the same time.
      const which = said.of === 'not done' ? `${askedIn(job)}\n` : '';
      const told = message([plainSection(`${emoji} ${which}${sentence(words)}`), ...links]);
      return said.blocks ? { text: told.text, blocks: said.blocks as KnownBlock[] } : told;
    }
    case 'waiting': {
      // The next look need not end such a wait. Any other time is the earliest, because the message stays.
      const until = ['outage', 'key', 'operator'].includes(said.waitsFor) ? undefined : said.until;
      const { why, next } = waitToPerson(said.waitsFor, escaped(contact));
      const when =
        until === undefined ? next : `Your request continues by itself, at about ${nextMinute(until)} or later.`;
      return message(section(`:hourglass: ${code(askedIn(job))} has to wait: ${why}. ${when}`));
    }
    case 'parked':
      return message(
        plainSection(`:octagonal_sign: ${askedIn(job)}\n${parkedToPerson(said.kind, shortName(job.id), contact)}`),
      );
  }
}
