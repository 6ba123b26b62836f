import { setTimeout as pause } from 'node:timers/promises';
import { hasEnded, type Job, jobStatuses } from '../lib/engine/record/job.ts';
import type { JobStore } from '../lib/engine/record/job-store.ts';
import type { Changes } from './changes.ts';

/** How often the index is read: normally, and after a minute without changes. */
const EVERY_MS = 1_000;
const IDLE_EVERY_MS = 3_000;
const IDLE_AFTER = 60;
/** How many jobs of each status are read, those that changed last. */
const NEWEST = 25;

/**
 * The changes of a relay elsewhere, from the newest entries of its index. One reading serves all listening pages;
 * without a page, there is none.
 *
 * @param failed gets the first of several errors in a row; the next reading tries again
 */
export function createPolledChanges(jobs: JobStore, failed: (error: unknown) => void): Changes {
  const listeners = new Set<(jobIds: readonly string[]) => void>();
  let polling: AbortController | undefined;

  async function poll(signal: AbortSignal): Promise<void> {
    let known: Map<string, Job> | undefined;
    let quiet = 0;
    let isFailing = false;
    while (!signal.aborted) {
      try {
        const now = await newest(jobs);
        const changed = known ? changedJobs(known, now) : [];
        quiet = changed.length > 0 ? 0 : quiet + 1;
        // Without changes, the first reading tells the listeners only that changes are noticed from now on.
        if ((changed.length > 0 || !known) && !signal.aborted) for (const listener of listeners) listener(changed);
        known = now;
        isFailing = false;
      } catch (error) {
        if (!isFailing) failed(error);
        isFailing = true;
        quiet = IDLE_AFTER;
      }
      await pause(quiet < IDLE_AFTER ? EVERY_MS : IDLE_EVERY_MS, undefined, { signal }).catch(() => {});
    }
  }

  return {
    listen(listener) {
      listeners.add(listener);
      if (!polling) {
        polling = new AbortController();
        void poll(polling.signal);
      }
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        polling?.abort();
        polling = undefined;
      };
    },
  };
}

async function newest(jobs: JobStore): Promise<Map<string, Job>> {
  const lists = await Promise.all(jobStatuses.map((status) => jobs.list(status, { limit: NEWEST, newestFirst: true })));
  return new Map(lists.flat().map((job) => [job.id, job]));
}

/**
 * The ids of changed jobs. A running job counts as changed, because its steps are not in the index. A job that left the
 * list has another status, unless it had ended: then newer jobs took its place.
 */
function changedJobs(before: ReadonlyMap<string, Job>, now: ReadonlyMap<string, Job>): string[] {
  const isOther = (job: Job) => job.status === 'running' || stateOf(job) !== stateOf(before.get(job.id));
  const left = [...before.values()].filter((job) => !now.has(job.id) && !hasEnded(job));
  return [...[...now.values()].filter(isOther), ...left].map(({ id }) => id);
}

const stateOf = (job: Job | undefined) => job && [job.status, job.generation, job.wakeAt, job.attempts].join();
