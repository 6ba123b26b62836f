import { digest } from '../digest.ts';
import type { JobStore } from '../jobs/job-store.ts';
import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

/** Somebody who types the very same command again so soon may have done it by mistake. */
export const ASKED_WITHIN_MS = 120_000;

/** Time-out of slack-webhook: one that began longer ago and has stored nothing will not. */
export const MAY_BE_STORING_MS = 10_000;

/** Which commands were given lately. */
export interface SaidBefore {
  /**
   * Notes a command, unless it was noted lately and became a job, or may be becoming one at this moment.
   * @returns when that was, in epoch milliseconds, or undefined where this is the first time
   */
  note(said: Said): Promise<number | undefined>;
  /** Notes a command that was given although it was noted before. */
  noteAgain(said: Said): Promise<void>;
}

/** A command, and the job that it is to become. */
interface Said {
  userId: string;
  channelId: string;
  command: string;
  jobId: string;
}

export function createSaidBefore(table: Table, jobs: JobStore, clock: () => number): SaidBefore {
  function itemOf({ userId, channelId, command, jobId }: Said, now: number) {
    const key = keys.said(userId, digest([channelId, command]));
    return { ...key, jobId, at: now, expiresAt: Math.ceil((now + ASKED_WITHIN_MS) / 1000) };
  }

  return {
    async note(said) {
      const now = clock();
      const item = itemOf(said, now);
      const lately = {
        expression: 'attribute_not_exists(#pk) OR #at <= :before OR #jobId = :jobId',
        values: { before: now - ASKED_WITHIN_MS, jobId: said.jobId },
      };
      if (await table.put(item, lately)) return undefined;
      const earlier = (await table.get({ pk: item.pk, sk: item.sk })) as { jobId: string; at: number } | undefined;
      // One that was never stored was answered with an error, and is typed again for good reason.
      if (earlier && (now - earlier.at < MAY_BE_STORING_MS || (await jobs.get(earlier.jobId)))) return earlier.at;
      await table.put(item);
      return undefined;
    },
    noteAgain: async (said) => void (await table.put(itemOf(said, clock()))),
  };
}
