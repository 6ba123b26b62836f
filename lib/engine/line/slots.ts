import type { Budget, Slot, SlotAnswer } from '../../service/budget/budget.ts';
import { BudgetUnavailable } from '../../service/budget/budget-store.ts';
import type { Lane } from '../../service/budget/lanes.ts';
import type { Connection } from '../../service/connection/connection.ts';
import type { WaitsFor } from '../record/history.ts';
import { InLine, RetryAt } from '../record/interruption.ts';
import type { StrangerTurn } from './stranger-turn.ts';

/** Waits up to this long happen inside the Lambda. */
const LONGEST_PAUSE_MS = 8_000;
/** An urgent call that has to wait longer retries after this long. */
const LONGEST_WAIT_MS = 5 * 60_000;
/** Further commands must not occupy workers that first commands need, nor backfills those that events need. */
const LONGEST_PAUSE_OF_LATER_MS = 1_000;
/** The delay before a retry when the budget cannot be read or written. */
const NO_BUDGET_PAUSE_MS = 30_000;

/** Takes slots of the budget for one run of a job, and waits if the wait fits into the run. */
export interface Slots {
  /**
   * Takes a slot and waits in place until it is due.
   * @param urgent true for resends and searches, which go ahead of other work
   * @throws {InLine} if other jobs are ahead, or the wait is too long for this run
   * @throws {RetryAt} if an urgent call has to wait too long, the budget is not available, or an outside contributor's
   *   share of the day is used up
   */
  take(urgent: boolean): Promise<Slot>;
  /**
   * Waits in place if the wait is short and fits into the run.
   * @throws {RetryAt} otherwise
   */
  pauseUntil(at: number, why: string, waitsFor?: WaitsFor): Promise<void>;
  /** @throws {RetryAt} if a call could outlast this run, because the Lambda would cut it off */
  ensureTimeForCall(): void;
  /** True if the run has taken or requested a slot. */
  hasAsked(): boolean;
  /** True if the waiting lines of the connection should advance. */
  lineIsDue(): boolean;
}

export interface SlotsOptions {
  connection: Connection;
  lane: Lane;
  /** True if the job was in the waiting line. It then goes ahead of new jobs. */
  cameBack: boolean;
  budget: Budget;
  clock: () => number;
  sleep: (ms: number) => Promise<void>;
  /** When this run must have ended: the Lambda's time-out. Epoch milliseconds. */
  deadline: number;
  /** Set for a job that an outside contributor caused. */
  strangerTurn?: StrangerTurn | undefined;
}

/**
 * @throws {RetryAt} if the budget cannot be read or written: nothing may be sent, and this does not count as a failed
 * attempt
 */
export async function withBudget<T>(act: Promise<T>, clock: () => number): Promise<T> {
  try {
    return await act;
  } catch (error) {
    if (!(error instanceof BudgetUnavailable)) throw error;
    throw new RetryAt(clock() + NO_BUDGET_PAUSE_MS, error.message, { waitsFor: 'outage' });
  }
}

export function createSlots({ strangerTurn, ...options }: SlotsOptions): Slots {
  const { connection, lane, cameBack, budget, clock, sleep, deadline } = options;
  let lineIsDue = false;
  let hasAsked = false;
  let hasTaken = false;

  async function pauseUntil(at: number, why: string, waitsFor: WaitsFor = 'pause'): Promise<void> {
    const ms = at - clock();
    if (ms > LONGEST_PAUSE_MS || at + connection.timeoutMs > deadline) throw new RetryAt(at, why, { waitsFor });
    if (ms > 0) await sleep(ms);
  }

  async function request(urgent: boolean, waitsUntil: number): Promise<SlotAnswer> {
    const { name, limits } = connection;
    const asked = { connection: name, limits, lane, urgent, cameBack, hasBegun: hasTaken, waitsUntil };
    hasAsked = true;
    const answer = await withBudget(budget.requestSlot(asked), clock);
    lineIsDue ||= answer.lineIsDue;
    return answer;
  }

  async function takeOfStrangers(slot: Slot): Promise<void> {
    try {
      await strangerTurn?.take();
    } catch (error) {
      slot.giveUp();
      throw error;
    }
  }

  return {
    pauseUntil,
    lineIsDue: () => lineIsDue,
    hasAsked: () => hasAsked,
    ensureTimeForCall() {
      if (clock() + connection.timeoutMs > deadline) throw new RetryAt(clock(), 'this run has no time left for a call');
    },
    async take(urgent) {
      const isLater = lane === 'further' || lane === 'backfill';
      const longest = isLater ? LONGEST_PAUSE_OF_LATER_MS : LONGEST_PAUSE_MS;
      const waitsUntil = Math.min(clock() + longest, deadline - connection.timeoutMs);
      for (;;) {
        const answer = await request(urgent, waitsUntil);
        if (!answer.granted) {
          if (answer.askAgainAt === undefined) throw new InLine(answer.why, answer.expectedAt);
          // The limits may change in the meantime, and a connection may be resumed.
          await pauseUntil(Math.min(answer.askAgainAt, clock() + LONGEST_WAIT_MS), answer.why, 'budget');
          continue;
        }
        const { slot } = answer;
        if (slot.sendAt > clock()) await sleep(slot.sendAt - clock());
        if (await withBudget(slot.isGood(), clock)) {
          if (!urgent) await takeOfStrangers(slot);
          hasTaken = true;
          return slot;
        }
        slot.giveUp();
      }
    },
  };
}
