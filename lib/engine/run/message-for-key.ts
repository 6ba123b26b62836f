import * as z from 'zod/mini';
import { digest } from '../../digest.ts';
import { createMade, freed, type Made } from '../../links/made.ts';
import type { SlackMessage } from '../../platforms/slack/messages.ts';
import { type SentMessage, slackMessage } from '../../platforms/slack/post-message.ts';
import { type SlackApi, SlackRefusal } from '../../platforms/slack/slack-api.ts';
import { keys } from '../../state/table/keys.ts';
import type { Job } from '../record/job.ts';
import { type ForKeyOptions, otherUse, waitFor } from './for-key.ts';
import type { Reply } from './reply-steps.ts';

const CALLS = 'Slack message';
/**
 * Slack's errors for a message that was deleted, as was perhaps its channel, or that can no longer be changed.
 * https://docs.slack.dev/reference/methods/chat.update
 */
const GONE = /^(message_not_found|cant_update_message|edit_window_closed|channel_not_found|is_inactive)$/;

export interface MessageForKey {
  step: string;
  key: string;
  /** Where the first job posts the message. Later jobs do not move it. */
  to: Parameters<typeof slackMessage>[0];
  said: SlackMessage;
}

/**
 * Returns the message of a name and a key. The first job posts it, and later jobs change it, unless it already has the
 * text of a newer event. A job writes its claim and its time right before each request to Slack, and other jobs wait
 * while it runs. After a job that no longer runs, the next job searches for what that job may have posted. A deleted
 * message is posted again.
 */
export function messageForKey(
  job: Job,
  { step, key, to, said }: MessageForKey,
  { table, jobs, clock, slack }: Pick<ForKeyOptions, 'table' | 'jobs' | 'clock'> & { slack: SlackApi },
): Reply<SentMessage | 'left to a newer event'> {
  const store = createMade(table);
  const thing = keys.made(job.connection, step, digest(key));
  const newest = job.createdAt;

  /** Changes the message. @returns undefined if it is gone, or another job changed the item in the meantime */
  async function update(made: Made, ensureTime: () => void): Promise<SentMessage | undefined> {
    const mine = await store.change(thing, made, { ...made, by: { job: job.id, step }, newest });
    if (!mine) return undefined;
    const sent = { by: 'direct message', channel: made.channel ?? '', ts: String(made.id) } as const;
    try {
      const fields = { channel: sent.channel, ts: sent.ts, ...said };
      await slack.call('chat.update', fields, z.object({}), ensureTime);
      return sent;
    } catch (error) {
      if (!(error instanceof SlackRefusal) || !GONE.test(error.error)) throw error;
      await store.change(thing, mine, { ...freed(mine), turn: mine.turn + 1 });
      return undefined;
    }
  }

  /**
   * Posts the message. @returns undefined if an earlier run posted it with another text, or another job changed the
   * item
   */
  async function post(made: Made, ensureTime: () => void): Promise<SentMessage | undefined> {
    const isNew = made.by === undefined;
    const since = isNew || made.since === undefined ? clock() : made.since;
    const mine = await store.change(thing, made, { ...made, calls: CALLS, by: { job: job.id, step }, since, newest });
    if (!mine) return undefined;
    const message = slackMessage(to, digest([thing.pk, made.turn]), said, slack);
    const earlier = isNew ? undefined : await message.find(since);
    const sent = earlier ?? (await message.make(ensureTime));
    if ('ts' in sent) await store.change(thing, mine, { ...mine, id: sent.ts, channel: sent.channel });
    return earlier ? undefined : sent;
  }

  return {
    calls: CALLS,
    // `make` searches, because another job may have posted the message.
    find: async () => undefined,
    async make(ensureTime) {
      for (;;) {
        const made = await store.read(thing);
        if (made.calls !== undefined && made.calls !== CALLS) throw otherUse(step, CALLS, made);
        if ((made.newest ?? 0) > newest) return 'left to a newer event';
        // The other job's request may still be on its way, and must not arrive after this one.
        if (made.by && made.by.job !== job.id) {
          const holder = await jobs.get(made.by.job);
          if (holder?.status === 'running') throw waitFor(job, made.by.job, CALLS, clock());
        }
        const sent = await (made.id === undefined ? post : update)(made, ensureTime);
        if (sent) return sent;
      }
    },
  };
}
