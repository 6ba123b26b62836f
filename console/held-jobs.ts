import { READ_TO_COUNT } from '../lib/engine/operate/job-counts.ts';
import { type Job, waitOf } from '../lib/engine/record/job.ts';
import { lineOf } from '../lib/engine/record/job-lists.ts';
import type { JobStore } from '../lib/engine/record/job-store.ts';
import { lanes } from '../lib/service/budget/lanes.ts';
import type { ConnectionView } from '../lib/service/connection/connection-view.ts';
import { operations } from '../lib/service/partner/operations/operations.ts';

/** How many waiting jobs are read, those that continue first. Further ones are only counted in their lines. */
const WAITING_READ = 100;

/** The waiting jobs among which {@link heldJobs} finds those outside the lines. */
export const readWaiting = (jobs: Pick<JobStore, 'list'>) => jobs.list('waiting', { limit: WAITING_READ });

/**
 * The jobs that wait until a connection or an operation works again: those in its lines, and those that probe it or
 * call it again by themselves. Also those of them that were read.
 */
export async function heldJobs(
  connection: string,
  { isStopped, pausedUntil, stopped }: ConnectionView,
  waiting: readonly Job[],
  jobs: Pick<JobStore, 'line'>,
) {
  const isWhole = isStopped || pausedUntil !== null;
  const failing = stopped.flatMap(({ operation }) => operation ?? []);
  const held = [...(isWhole ? [undefined] : []), ...failing].flatMap((operation) =>
    lanes.map((lane) => ({ lane, operation })),
  );
  const names = new Set(held.map(({ lane, operation }) => lineOf(connection, lane, operation)));
  const callsIt = ({ unfinished = [] }: Job) =>
    unfinished.some(({ calls }) => (isStopped ? operations.has(calls) : failing.includes(calls)));
  const read = waiting.filter(
    (job) =>
      job.connection === connection &&
      (names.has(job.line ?? '') ||
        (isForCalls(job) && callsIt(job)) ||
        (pausedUntil !== null && waitOf(job)?.for === 'budget')),
  );
  const lines = held.map(({ lane, operation }) => jobs.line(connection, lane, READ_TO_COUNT, operation));
  const standing = [...(await Promise.all(lines)).flat(), ...read];
  return { standing: [...new Map(standing.map((job) => [job.id, job])).values()], read };
}

/** True if the job waits to repeat a call that failed. A job that searches for what a lost answer created does not. */
const isForCalls = (job: Job) => {
  const { for: kind = 'pause', why = '' } = waitOf(job) ?? {};
  return kind === 'answer' ? why.endsWith('sends the same request again') : ['outage', 'key', 'retry'].includes(kind);
};
