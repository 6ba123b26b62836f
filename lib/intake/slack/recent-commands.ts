import { digest } from '../../digest.ts';
import type { Job } from '../../engine/record/job.ts';
import type { JobStore } from '../../engine/record/job-store.ts';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import { ifReadable } from '../../state/table/unreadable-item.ts';

/** A person who types the same command again within this time may have done so by mistake. */
export const ASKED_WITHIN_MS = 120_000;

/** Remembers recent commands. */
export interface RecentCommands {
  /**
   * Records a command, unless it was recorded recently and became a job.
   *
   * A recorded command without a job may be about to get one, or its webhook may have died. There is no way to tell.
   * Callers therefore make the job from the recorded event and not from their own: that gives the same job, so the
   * command runs once either way.
   *
   * @returns the job of the command that was given before, and when that was, in epoch milliseconds; otherwise the event
   *   to make its job from
   */
  note(given: GivenBefore): Promise<{ first: Job; saidAt: number } | { happened: string }>;
  /** Records a command that a person deliberately repeated. */
  noteAgain(given: GivenBefore): Promise<void>;
}

/** A command and its future job. */
interface GivenBefore {
  userId: string;
  channelId: string;
  command: string;
  /** What it sets, if another command sets it to something else. */
  sets?: string | undefined;
  /** The event that the job is made from. */
  happened: string;
  jobId: string;
}

interface Noted {
  happened: string;
  jobId: string;
  at: number;
}

export function createRecentCommands(table: Table, jobs: JobStore, clock: () => number): RecentCommands {
  function itemOf({ userId, channelId, command, sets = command, happened, jobId }: GivenBefore, now: number) {
    const key = keys.said(userId, digest([channelId, sets]));
    return { ...key, command, happened, jobId, at: now, expiresAt: Math.ceil((now + ASKED_WITHIN_MS) / 1000) };
  }

  return {
    async note(given) {
      const now = clock();
      const item = itemOf(given, now);
      const lately = {
        expression: 'attribute_not_exists(#pk) OR #at <= :before OR #jobId = :jobId OR #command <> :command',
        values: { before: now - ASKED_WITHIN_MS, jobId: given.jobId, command: given.command },
      };
      if (await table.put(item, lately)) return { happened: given.happened };
      const earlier = (await table.get({ pk: item.pk, sk: item.sk })) as Noted | undefined;
      // The record has expired.
      if (!earlier) return { happened: given.happened };
      const first = await ifReadable(jobs.get(earlier.jobId));
      return first ? { first, saidAt: earlier.at } : { happened: earlier.happened };
    },
    noteAgain: async (given) => void (await table.put(itemOf(given, clock()))),
  };
}
