import type { Budget } from '../../service/budget/budget.ts';
import { type Lane, lanes } from '../../service/budget/lanes.ts';
import type { Limits } from '../../service/budget/window.ts';
import type { JobStore } from '../record/job-store.ts';

/** More jobs in a waiting line count as this many. */
const COUNTED_UP_TO = 1_000;

export interface CallsToForesee {
  connection: string;
  limits: Limits;
  lane: Lane;
  calls: number;
}

/**
 * When this number of calls of a lane will have been sent, after the jobs that wait in the lanes ahead of it.
 * @returns the time in epoch milliseconds, and the number of those jobs
 */
export async function foreseeCalls(
  { connection, limits, lane, calls }: CallsToForesee,
  { budget, jobs }: { budget: Budget; jobs: JobStore },
): Promise<{ at: number; ahead: number }> {
  const before = lanes.slice(0, lanes.indexOf(lane));
  const lines = await Promise.all(before.map((one) => jobs.line(connection, one, COUNTED_UP_TO)));
  const ahead = lines.reduce((sum, line) => sum + line.length, 0);
  return { at: await budget.foresee(connection, limits, { lane, calls, ahead }), ahead };
}
