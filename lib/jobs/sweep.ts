import { lanes } from '../budget/lanes.ts';
import { inBatches } from './batches.ts';
import type { Job, JobStatus } from './job.ts';
import type { JobStore } from './job-store.ts';
import type { JobQueue } from './queue.ts';

/** How many jobs are read at a time. */
const PAGE = 500;

export interface SweepOptions {
  jobs: JobStore;
  queue: JobQueue;
}

/**
 * Queues every job that would not go on otherwise: stored and never queued, its lease run out, or its due time come.
 * Running it twice, or late, does no harm. Jobs that wait for the budget have no due time: waiting-line.ts.
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

/** Queues all jobs of one status whose time to be looked at comes before `by`, people first. */
export async function requeueJobs(status: JobStatus, by: number, options: SweepOptions): Promise<Job[]> {
  const requeued: Job[] = [];
  const seen = new Set<string>();
  for (;;) {
    const page = await options.jobs.list(status, { by, limit: PAGE });
    const due = page.filter(({ id }) => !seen.has(id)).sort(peopleFirst);
    if (due.length === 0) return requeued;
    for (const { id } of due) seen.add(id);
    const next = await inBatches(due, (job) => requeueJob(job, options));
    requeued.push(...next.filter((job) => job !== undefined));
  }
}

function peopleFirst(a: Job, b: Job): number {
  return lanes.indexOf(a.lane) - lanes.indexOf(b.lane) || a.createdAt - b.createdAt;
}

/** @returns undefined if the job changed in the meantime, so that another process has looked at it */
export async function requeueJob(job: Job, { jobs, queue }: SweepOptions): Promise<Job | undefined> {
  const requeued = await jobs.requeue(job);
  if (!requeued) return undefined;
  await queue.send(requeued);
  await jobs.noteQueued(requeued);
  return requeued;
}
