import { digest } from '../digest.ts';
import type { JobStore } from '../jobs/job-store.ts';
import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

/** Somebody who types the very same command again so soon may have done it by mistake. */
export const ASKED_WITHIN_MS = 120_000;

/** Which commands were given lately. */
export interface SaidBefore {
  /**
   * Notes a command, unless it was noted lately and became a job.
   * @returns when that was, in epoch milliseconds, or undefined where this is the first time
   */
  note(said: { userId: string; channelId: string; command: string; jobId: string }): Promise<number | undefined>;
}

export function createSaidBefore(table: Table, jobs: JobStore, clock: () => number): SaidBefore {
  return {
    async note({ userId, channelId, command, jobId }) {
      const now = clock();
      const key = keys.said(userId, digest([channelId, command]));
      const item = { ...key, jobId, at: now, expiresAt: Math.ceil((now + ASKED_WITHIN_MS) / 1000) };
      const lately = {
        expression: 'attribute_not_exists(#pk) OR #at <= :before OR #jobId = :jobId',
        values: { before: now - ASKED_WITHIN_MS, jobId },
      };
      if (await table.put(item, lately)) return undefined;
      const earlier = (await table.get(key)) as { jobId: string; at: number } | undefined;
      // One that was never stored was answered with an error, and is typed again for good reason.
      if (earlier && (await jobs.get(earlier.jobId))) return earlier.at;
      await table.put(item);
      return undefined;
    },
  };
}
