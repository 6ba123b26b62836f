import type { Job, JobStatus } from './job.ts';
import type { JobStore } from './job-store.ts';
import type { JobQueue } from './queue.ts';

/** How many jobs of one status are queued in one go; the next minute takes the next. */
export const REQUEUED_AT_ONCE = 500;

export interface SweepOptions {
  jobs: JobStore;
  queue: JobQueue;
}

/**
 * Queues every job that nobody would look at otherwise: stored and never queued, its lease run out, or its due time
 * come. Running it twice, or late, does no harm.
 *
 * @param now epoch milliseconds
 */
export async function sweepJobs(options: SweepOptions, now: number): Promise<Job[]> {
  const swept: Job[] = [];
  for (const status of ['queued', 'running', 'waiting'] as const) {
    swept.push(...(await requeueJobs(status, now, options)));
  }
  return swept;
}

/** Queues the jobs of one status whose time to be looked at comes before `by`, oldest first. */
export async function requeueJobs(status: JobStatus, by: number, options: SweepOptions): Promise<Job[]> {
  const due = await options.jobs.list(status, { by, limit: REQUEUED_AT_ONCE });
  const requeued: Job[] = [];
  const errors: unknown[] = [];
  for (const job of due.sort((a, b) => a.createdAt - b.createdAt)) {
    try {
      const next = await requeueJob(job, options);
      if (next) requeued.push(next);
    } catch (error) {
      // One that cannot be queued must not keep the others from it.
      errors.push(error);
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} of ${due.length} jobs could not be queued`);
  return requeued;
}

/** @returns undefined where the job changed in between, so that somebody else has looked at it */
export async function requeueJob(job: Job, { jobs, queue }: SweepOptions): Promise<Job | undefined> {
  const requeued = await jobs.requeue(job);
  if (!requeued) return undefined;
  await queue.send(requeued);
  await jobs.noteQueued(requeued);
  return requeued;
}
