import type { SectionBlock } from '@slack/types';
import * as z from 'zod/mini';
import { asInterruption } from '../engine/run/as-interruption.ts';
import { PlatformRateLimited } from '../platforms/errors.ts';
import { message } from '../platforms/slack/messages.ts';
import { slackMessage } from '../platforms/slack/post-message.ts';
import { type SlackApi, SlackRefusal } from '../platforms/slack/slack-api.ts';
import { expiry } from '../state/table/expiry.ts';
import { keys } from '../state/table/keys.ts';
import type { Table } from '../state/table/table.ts';

/** Longer than a run of the sweep. */
const CLAIM_MS = 2 * 60_000;

const notice = z.object({
  /** When the first try to post the notice began. */
  begunAt: z.number(),
  /** Until when one run may post the notice. */
  claimedUntil: z.optional(z.number()),
  /** Set once the notice is posted. */
  ts: z.optional(z.string()),
  /** The jobs that the notice has named, including those that are no longer parked. */
  jobs: z.optional(z.array(z.string())),
  says: z.optional(z.string()),
});
export type Notice = z.output<typeof notice>;

export interface NoticePostsOptions {
  table: Table;
  slack: SlackApi;
  /** The setting `contactChannel`. */
  channel: string;
  clock: () => number;
  log: Pick<Console, 'warn'>;
}

/** Posts each notice once. Searches for a notice before it posts it again. */
export function createNoticePosts({ table, slack, channel, clock, log }: NoticePostsOptions) {
  /**
   * Claims a notice for this run. @returns false if another run posts the notice, or has posted it since `known` was
   * read
   */
  async function claim(name: string, begunAt: number, known: Notice | undefined): Promise<boolean> {
    const { claimedUntil } = known ?? {};
    if (claimedUntil !== undefined && claimedUntil > clock()) return false;
    const asRead =
      claimedUntil === undefined
        ? { expression: 'attribute_not_exists(#pk)' }
        : { expression: '#claimedUntil = :claimedUntil', values: { claimedUntil } };
    return table.put({ ...itemOf(name), begunAt, claimedUntil: clock() + CLAIM_MS }, asRead);
  }

  async function store(name: string, posted: Notice): Promise<void> {
    await table.put({ ...itemOf(name), ...posted });
  }

  const itemOf = (name: string) => ({ ...keys.parkedNotice(name), expiresAt: expiry(clock()) });

  return {
    read: async (name: string) => notice.safeParse(await table.get(keys.parkedNotice(name))).data,
    store,
    /** Runs `tell`, and only logs a failure, because a later run tells the rest. */
    async tryToTell(what: string, tell: () => Promise<void>): Promise<void> {
      try {
        if (await slack.isThere()) await tell();
      } catch (error) {
        log.warn({
          message: `the contact channel could not be told ${what}`,
          channel,
          error: String(asInterruption(error, clock())),
        });
      }
    },
    /**
     * Posts a notice.
     * @param known the notice as it was read
     * @param told the fields to store with it
     * @returns false if another run posts it
     */
    async post(
      name: string,
      known: Notice | undefined,
      sections: SectionBlock[],
      told: Pick<Notice, 'jobs' | 'says'> = {},
    ): Promise<boolean> {
      const begunAt = known?.begunAt ?? clock();
      if (!(await claim(name, begunAt, known))) return false;
      const reply = slackMessage({ channelId: channel }, `parked ${name}`, message(sections), slack);
      const earlier = known && (await reply.find(begunAt).catch(unlessRefused));
      try {
        const sent = earlier ?? (await reply.make(() => {}));
        // If an earlier run posted the notice, it may have had other content, which is unknown.
        if ('ts' in sent) await store(name, { begunAt, ts: sent.ts, ...(!earlier && told) });
        return true;
      } catch (error) {
        // Slack did not post the notice, so there is nothing to search for.
        const isClear = error instanceof SlackRefusal || error instanceof PlatformRateLimited;
        if (isClear) await table.delete(keys.parkedNotice(name));
        throw error;
      }
    },
  };
}

/** Without a search, the notice is posted, because posting it twice is better than not at all. */
function unlessRefused(error: unknown): undefined {
  if (!(error instanceof SlackRefusal)) throw error;
}
