import { digest } from '../digest.ts';
import type { JobStore } from '../jobs/job-store.ts';
import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

/** Somebody who types the very same command again so soon may have done it by mistake. */
export const ASKED_WITHIN_MS = 120_000;

/** Which commands were given lately. */
export interface RecentCommands {
  /**
   * Notes a command, unless it was noted lately and became a job.
   *
   * One that was noted and is no job yet may be about to become one, or its webhook died. Nobody can tell; whoever makes
   * the job of that event, and not of their own, makes the same job, so that the command is carried out once either way.
   *
   * @returns when it was given before, in epoch milliseconds, or else the event that its job is to be made of
   */
  note(given: GivenBefore): Promise<{ saidAt: number } | { happened: string }>;
  /** Notes a command that was given although it was noted before. */
  noteAgain(given: GivenBefore): Promise<void>;
}

/** A command, and the job that it is to become. */
interface GivenBefore {
  userId: string;
  channelId: string;
  command: string;
  /** The event that the job is made of. */
  happened: string;
  jobId: string;
}

interface Noted {
  happened: string;
  jobId: string;
  at: number;
}

export function createRecentCommands(table: Table, jobs: JobStore, clock: () => number): RecentCommands {
  function itemOf({ userId, channelId, command, happened, jobId }: GivenBefore, now: number) {
    const key = keys.said(userId, digest([channelId, command]));
    return { ...key, happened, jobId, at: now, expiresAt: Math.ceil((now + ASKED_WITHIN_MS) / 1000) };
  }

  return {
    async note(given) {
      const now = clock();
      const item = itemOf(given, now);
      const lately = {
        expression: 'attribute_not_exists(#pk) OR #at <= :before OR #jobId = :jobId',
        values: { before: now - ASKED_WITHIN_MS, jobId: given.jobId },
      };
      if (await table.put(item, lately)) return { happened: given.happened };
      const earlier = (await table.get({ pk: item.pk, sk: item.sk })) as Noted | undefined;
      // Gone since, or noted by a version that did not keep the event.
      if (!earlier?.happened) return { happened: given.happened };
      return (await jobs.get(earlier.jobId)) ? { saidAt: earlier.at } : { happened: earlier.happened };
    },
    noteAgain: async (given) => void (await table.put(itemOf(given, clock()))),
  };
}
