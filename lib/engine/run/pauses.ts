import { BudgetUnavailable } from '../../service/budget/budget-store.ts';
import type { WaitsFor } from '../record/history.ts';
import { RetryAt } from '../record/interruption.ts';

/** Waits up to this long happen inside the Lambda. */
export const LONGEST_PAUSE_MS = 8_000;
/** The longest wait for a slot before asking again. Limits change and pauses end, so the budget may open early. */
const LONGEST_WAIT_MS = 5 * 60_000;
/** A job that waits longer for an operation leaves the queue, so that its message does not block its entity. */
const LONGEST_WAIT_IN_QUEUE_MS = 30_000;
/** The delay before a retry when the budget cannot be read or written. */
export const NO_BUDGET_PAUSE_MS = 30_000;

export type Pauses = ReturnType<typeof createPauses>;

/**
 * The waits of one run of a job.
 * @param callMs the longest time that a call takes
 */
export function createPauses(
  { clock, sleep, deadline }: { clock: () => number; sleep: (ms: number) => Promise<void>; deadline: number },
  callMs: number,
) {
  /** Waits in place if the wait is short and fits into the run. @throws {RetryAt} otherwise */
  async function until(at: number, why: string, waitsFor: WaitsFor = 'pause', expectedAt?: number): Promise<void> {
    const ms = at - clock();
    if (ms > LONGEST_PAUSE_MS || at + callMs > deadline) throw new RetryAt(at, why, { waitsFor, expectedAt });
    if (ms > 0) await sleep(ms);
  }

  return {
    until,
    /** Waits for a slot of the budget by the rules of `until`. @throws {RetryAt} */
    untilSlot: (at: number, why: string) => until(Math.min(at, clock() + LONGEST_WAIT_MS), why, 'budget', at),
    /** @throws {RetryAt} if a call could outlast this run, because the Lambda would cut it off */
    ensureTimeForCall() {
      if (clock() + callMs > deadline)
        throw new RetryAt(clock(), 'this run of the worker ends before a call could end');
    },
  };
}

/**
 * Awaits an access to the budget.
 * @throws {RetryAt} if the budget cannot be read or written. Nothing may be sent then, and no attempt is used up
 */
export async function withBudget<T>(act: Promise<T>, clock: () => number): Promise<T> {
  try {
    return await act;
  } catch (error) {
    if (!(error instanceof BudgetUnavailable)) throw error;
    throw new RetryAt(clock() + NO_BUDGET_PAUSE_MS, error.message, { waitsFor: 'outage' });
  }
}

/** Returns the wait of a job until a time. If the wait is long, other jobs of its entity continue in the meantime. */
export function comeBackAt(
  at: number,
  now: number,
  why: string,
  waitsFor: WaitsFor = 'outage',
  expectedAt?: number,
): RetryAt {
  return new RetryAt(at, why, { releasesQueueGroup: at - now > LONGEST_WAIT_IN_QUEUE_MS, waitsFor, expectedAt });
}
