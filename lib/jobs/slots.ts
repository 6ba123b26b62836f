import type { Budget, Slot, SlotAnswer } from '../budget/budget.ts';
import { BudgetUnavailable } from '../budget/budget-store.ts';
import type { Lane } from '../budget/lanes.ts';
import type { Connection } from '../connection/connection.ts';
import { InLine, RetryAt } from './interruption.ts';
import type { StrangerTurn } from './stranger-turn.ts';

/** Waits up to this long stay in the Lambda. */
const LONGEST_PAUSE_MS = 8_000;
/** An urgent call that has to wait longer asks again after this long. */
const LONGEST_WAIT_MS = 5 * 60_000;
/** Further commands hold workers that first ones need. */
const LONGEST_PAUSE_OF_FURTHER_MS = 1_000;
/** How long a budget that cannot be read or written is left alone. */
const NO_BUDGET_PAUSE_MS = 30_000;

/** Slots of the budget as one run of a job takes them, and waits that fit into the run. */
export interface Slots {
  /**
   * Takes a slot and waits in place until it is due.
   * @param urgent for resends and searches, which go ahead of other work
   * @throws {InLine} if other jobs are ahead, or the wait is too long for this run
   * @throws {RetryAt} for an urgent call that has to wait too long, a budget that is not available, or a stranger's call
   *   beyond their share of the day
   */
  take(urgent: boolean): Promise<Slot>;
  /**
   * Waits in place if the wait is short and the run has the time.
   * @throws {RetryAt} otherwise
   */
  pauseUntil(at: number, why: string): Promise<void>;
  /** @throws {RetryAt} if a call could outlast this run: the Lambda's end would cut it off */
  ensureTimeForCall(): void;
  /** Whether the run has had a slot, or has asked for one. */
  hasAsked(): boolean;
  /** Whether the budget wants the waiting lines of the connection to be moved on. */
  lineIsDue(): boolean;
}

export interface SlotsOptions {
  connection: Connection;
  lane: Lane;
  /** Whether the job stood in the waiting line: then it is ahead of new ones. */
  cameBack: boolean;
  budget: Budget;
  clock: () => number;
  sleep: (ms: number) => Promise<void>;
  /** When this run must have ended: the Lambda's time-out. Epoch milliseconds. */
  deadline: number;
  /** Of a job that a stranger caused. */
  strangerTurn?: StrangerTurn | undefined;
}

/** @throws {RetryAt} if the budget cannot be read or written: nothing may be sent then, and no attempt has failed */
export async function withBudget<T>(act: Promise<T>, clock: () => number): Promise<T> {
  try {
    return await act;
  } catch (error) {
    if (!(error instanceof BudgetUnavailable)) throw error;
    throw new RetryAt(clock() + NO_BUDGET_PAUSE_MS, error.message);
  }
}

export function createSlots({ strangerTurn, ...options }: SlotsOptions): Slots {
  const { connection, lane, cameBack, budget, clock, sleep, deadline } = options;
  let lineIsDue = false;
  let hasAsked = false;

  async function pauseUntil(at: number, why: string): Promise<void> {
    const ms = at - clock();
    if (ms > LONGEST_PAUSE_MS || at + connection.timeoutMs > deadline) throw new RetryAt(at, why);
    if (ms > 0) await sleep(ms);
  }

  async function request(urgent: boolean, waitsUntil: number): Promise<SlotAnswer> {
    const { name, limits } = connection;
    const asked = { connection: name, limits, lane, urgent, cameBack, waitsUntil };
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
      const longest = lane === 'further' ? LONGEST_PAUSE_OF_FURTHER_MS : LONGEST_PAUSE_MS;
      const waitsUntil = Math.min(clock() + longest, deadline - connection.timeoutMs);
      for (;;) {
        const answer = await request(urgent, waitsUntil);
        if (!answer.granted) {
          if (answer.askAgainAt === undefined) throw new InLine(answer.why, answer.expectedAt);
          // The limits may change meanwhile, and a connection may be resumed.
          await pauseUntil(Math.min(answer.askAgainAt, clock() + LONGEST_WAIT_MS), answer.why);
          continue;
        }
        const { slot } = answer;
        if (slot.sendAt > clock()) await sleep(slot.sendAt - clock());
        if (await withBudget(slot.isGood(), clock)) {
          if (!urgent) await takeOfStrangers(slot);
          return slot;
        }
        slot.giveUp();
      }
    },
  };
}
