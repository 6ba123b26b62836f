import { lanes } from '../budget/lanes.ts';
import { inBatches } from './batches.ts';
import type { OperatorDecision } from './history.ts';
import type { Job, JobStatus } from './job.ts';
import type { JobStore } from './job-store.ts';
import type { JobQueue } from './queue.ts';

export interface SweepOptions {
  jobs: JobStore;
  queue: JobQueue;
}

export interface SweepJobsOptions extends SweepOptions {
  /** True if the configuration has the connection, so that its waiting line advances. */
  hasConnection: (name: string) => boolean;
}

/**
 * Queues every job that would otherwise be stuck: stored but never queued, with an expired lease, or due. Running it
 * twice or late is harmless. Jobs that wait for the budget have no due time: waiting-line.ts.
 *
 * @param now epoch milliseconds
 */
export async function sweepJobs(options: SweepJobsOptions, now: number): Promise<Job[]> {
  const swept: Job[] = [];
  for (const status of ['queued', 'running', 'waiting'] as const) {
    swept.push(...(await requeueJobs(status, now, options)));
  }
  return swept;
}

/** Queues all jobs of one status that are due for a check before `by`, people's jobs first. */
export async function requeueJobs(status: JobStatus, by: number, options: SweepJobsOptions): Promise<Job[]> {
  const requeued: Job[] = [];
  // A job that was queued again can appear again, later in the index.
  const seen = new Set<string>();
  for await (const page of options.jobs.due(status, by)) {
    const due = page.filter(({ id }) => !seen.has(id)).sort(peopleFirst);
    for (const { id } of due) seen.add(id);
    const next = await inBatches(due, (job) => requeueOrKeep(job, options));
    requeued.push(...next.filter((job) => job !== undefined));
  }
  return requeued;
}

/** A job in line is called from the line, unless its connection is gone. Then it has to run to find that out. */
async function requeueOrKeep(job: Job, options: SweepJobsOptions): Promise<Job | undefined> {
  const stands = job.status === 'waiting' && job.line !== undefined && job.slotAt === undefined;
  if (!stands || !options.hasConnection(job.connection)) return requeueJob(job, options);
  await options.jobs.keepInLine(job);
  return undefined;
}

function peopleFirst(a: Job, b: Job): number {
  return lanes.indexOf(a.lane) - lanes.indexOf(b.lane) || a.createdAt - b.createdAt;
}

/**
 * @param decision of the operator who continues or ends it
 * @returns undefined if the job changed in the meantime, because another process handled it
 */
export async function requeueJob(
  job: Job,
  { jobs, queue }: SweepOptions,
  decision?: OperatorDecision,
): Promise<Job | undefined> {
  const requeued = await jobs.requeue(job, decision);
  if (!requeued) return undefined;
  // The last message of a waiting job may sleep in the queue, and its group with it. An operator's decision goes past it.
  await queue.send(decision && job.status === 'waiting' ? { ...requeued, group: job.id } : requeued);
  await jobs.noteQueued(requeued);
  return requeued;
}
