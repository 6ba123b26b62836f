import type { Budget } from '../../service/budget/budget.ts';
import { type Lane, lanes } from '../../service/budget/lanes.ts';
import type { Limits } from '../../service/budget/window.ts';
import { jobsByStatus } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import { type JobStatus, jobStatuses } from '../record/job.ts';
import type { JobStore } from '../record/job-store.ts';

/**
 * The highest count. The console counts every second, and counting this many reads the index for about 200 read units.
 */
const COUNTED_UP_TO = 1_000;
/** How many entries to read, to know whether there are more. */
export const READ_TO_COUNT = COUNTED_UP_TO + 1;

/** A number of jobs, as the terminal and the console show it. */
export interface Count {
  jobs: number;
  /** True if there are more than `jobs`. */
  more: boolean;
}

/** @param found how many of at most {@link READ_TO_COUNT} were found */
export function countOf(found: number): Count {
  return { jobs: Math.min(found, COUNTED_UP_TO), more: found > COUNTED_UP_TO };
}

/** Counts the jobs of each status without reading their records. */
export async function countJobs(table: Table): Promise<Record<JobStatus, Count>> {
  const counts = await Promise.all(
    jobStatuses.map(async (status) => {
      const condition = { expression: '#status = :status', values: { status } };
      return [status, countOf(await table.countIndex(jobsByStatus.name, condition, READ_TO_COUNT))] as const;
    }),
  );
  return Object.fromEntries(counts) as Record<JobStatus, Count>;
}

/** Counts the jobs in a waiting line. */
export async function countLine(jobs: JobStore, connection: string, lane: Lane): Promise<Count> {
  return countOf((await jobs.line(connection, lane, READ_TO_COUNT)).length);
}

/** `5`, `1,000+` */
export function countInWords({ jobs, more }: Count): string {
  return `${jobs.toLocaleString('en-GB')}${more ? '+' : ''}`;
}

/**
 * Estimates when this number of a lane's calls will have been sent, after the jobs that wait in the lanes ahead of it.
 * @returns the time in epoch milliseconds, and the number of those jobs
 */
export async function foreseeCalls(
  { connection, limits, lane, calls }: { connection: string; limits: Limits; lane: Lane; calls: number },
  { budget, jobs }: { budget: Budget; jobs: JobStore },
): Promise<{ at: number; ahead: number }> {
  const before = lanes.slice(0, lanes.indexOf(lane));
  const lines = await Promise.all(before.map((one) => jobs.line(connection, one, COUNTED_UP_TO)));
  const ahead = lines.reduce((sum, line) => sum + line.length, 0);
  return { at: await budget.foresee(connection, limits, { lane, calls, ahead }), ahead };
}
