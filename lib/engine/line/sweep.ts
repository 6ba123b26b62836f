import { lanes } from '../../service/budget/lanes.ts';
import type { OperatorDecision } from '../record/history.ts';
import type { Job, JobStatus } from '../record/job.ts';
import { type JobStore, UNCLAIMED_MS } from '../record/job-store.ts';
import { inBatches, type JobQueue } from './queue.ts';

export interface SweepOptions {
  jobs: JobStore;
  queue: JobQueue;
  /** True if the workers of running jobs were stopped instead of crashing. */
  wasStopped?: boolean;
}

export interface SweepJobsOptions extends SweepOptions {
  /** True if the job's waiting line still calls its jobs, because the configuration has its connection. */
  isCalled: (job: Job & { line: string }) => Promise<boolean>;
}

/**
 * How many unclaimed jobs one sweep sends again, oldest first. After thousands of events at once, most jobs only wait
 * behind others in the queue, and a second message for each would keep the workers busy. The sweep still finds a lost
 * message within two minutes, and covers more jobs a minute than the limit of a connection allows.
 */
const MOST_UNCLAIMED = 240;

/**
 * Queues every job that would otherwise be stuck: without a message, with an expired lease, or due. Running it twice or
 * late is harmless. Jobs in line have no due time; waiting-line.ts calls them.
 * @param now epoch milliseconds
 */
export async function sweepJobs(options: SweepJobsOptions, now: number): Promise<Job[]> {
  const swept: Job[] = [];
  for (const status of ['queued', 'running', 'waiting'] as const) {
    swept.push(...(await requeueJobs(status, now, options, status === 'queued' ? MOST_UNCLAIMED : undefined)));
  }
  return swept;
}

/**
 * Queues the jobs of one status that are due for a check before `by`: all of them, or the first `most`. The jobs of an
 * entity keep their order.
 */
export async function requeueJobs(
  status: JobStatus,
  by: number,
  options: SweepJobsOptions,
  most = Number.POSITIVE_INFINITY,
): Promise<Job[]> {
  const requeued: Job[] = [];
  // A requeued job can appear a second time, later in the index.
  const seen = new Set<string>();
  // A job that is sent again goes behind the queued jobs of its entity. Younger jobs of the entity are therefore sent
  // again after it.
  const entities = new Set<string>();
  const until = status === 'queued' ? by + UNCLAIMED_MS : by;
  for await (const page of options.jobs.due(status, until)) {
    for (const { entity, wakeAt } of page) if (wakeAt <= by || wakeAt > until) entities.add(entity);
    const unseen = page.filter(({ id, entity }) => !seen.has(id) && entities.has(entity)).sort(peopleFirst);
    const due = unseen.slice(0, most - seen.size);
    for (const { id } of due) seen.add(id);
    // The jobs of one entity are sent one after the other, so that they keep their order in the queue.
    const byEntity = [...Map.groupBy(due, ({ entity }) => entity).values()];
    await inBatches(byEntity, async (jobs) => {
      for (const job of jobs) {
        const next = await requeueOrKeep(job, options);
        if (next) requeued.push(next);
      }
    });
    if (seen.size >= most) break;
  }
  return requeued;
}

/** Leaves a job in line to its line, unless the connection is gone. Then the job has to run to find that out. */
async function requeueOrKeep(job: Job, options: SweepJobsOptions): Promise<Job | undefined> {
  const { status, line, slotAt } = job;
  const stands = status === 'waiting' && line !== undefined && slotAt === undefined;
  if (!stands || !(await options.isCalled({ ...job, line }))) return requeueJob(job, options);
  await options.jobs.keepInLine(job);
  return undefined;
}

function peopleFirst(a: Job, b: Job): number {
  return lanes.indexOf(a.lane) - lanes.indexOf(b.lane) || a.createdAt - b.createdAt;
}

/**
 * Queues one job.
 * @param decision of the operator who continues or ends the job
 * @returns undefined if another process changed the job in the meantime
 */
export async function requeueJob(
  job: Job,
  { jobs, queue, wasStopped }: SweepOptions,
  decision?: OperatorDecision,
): Promise<Job | undefined> {
  const requeued = await jobs.requeue(job, decision, wasStopped);
  if (!requeued) return undefined;
  // The last message of a waiting job may be asleep, and its group with it, so an operator's decision bypasses the
  // group.
  await queue.send(requeued, decision !== undefined && job.status === 'waiting');
  return requeued;
}
