import type { Budget, Limits } from '../budget/budget.ts';
import type { Breaker, Breakers, Scope } from '../connection/breakers.ts';
import { requeueJob, type SweepOptions } from './sweep.ts';

/** How many waiting jobs are looked at; the others go on when they are due. */
const LOOKED_AT = 1_000;

/** What held a connection up. */
export interface Resumed {
  /** Epoch milliseconds, or null where it was not paused. */
  pausedUntil: number | null;
  /** Breakers that were open. */
  stopped: (Breaker & Scope)[];
  /** How many jobs that waited go on now. */
  queued: number;
}

/**
 * Lifts the pause of a connection, closes its breakers and those of its operations, and lets its waiting jobs go on.
 * What the service says next can stop them again.
 */
export async function resumeConnection(
  connection: string,
  { limits, budget, breakers, ...options }: SweepOptions & { limits: Limits; budget: Budget; breakers: Breakers },
): Promise<Resumed> {
  const { pausedUntil } = await budget.view(connection, limits);
  const stopped = await breakers.listOpen(connection);
  await budget.resume(connection);
  await breakers.closeAll(connection);
  const waiting = await options.jobs.list('waiting', { limit: LOOKED_AT });
  let queued = 0;
  for (const job of waiting.filter((job) => job.connection === connection)) {
    if (await requeueJob(job, options)) queued += 1;
  }
  return { pausedUntil, stopped, queued };
}
