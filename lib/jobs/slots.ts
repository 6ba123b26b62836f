import { type Budget, BudgetUnavailable, type Lane, type Slot } from '../budget/budget.ts';
import type { Connection } from '../connection/connection.ts';
import { Later } from './interruption.ts';

/** Waits up to this long stay in the Lambda. */
const LONGEST_PAUSE_MS = 5_000;
/** How long a budget that cannot be read or written is left alone. */
const NO_BUDGET_PAUSE_MS = 30_000;

/** Slots of the budget as one run of a job takes them, and waits that fit into the run. */
export interface Slots {
  /**
   * Takes a slot and waits in place until it is due.
   * @param first for resends and searches, which go ahead of other work
   * @throws {Later} where the wait is too long for this run
   */
  take(first: boolean): Promise<Slot>;
  /**
   * Waits in place if the wait is short and the run has the time.
   * @throws {Later} otherwise
   */
  pauseUntil(at: number, why: string): Promise<void>;
  /** @throws {Later} where a call could outlast this run: the Lambda's end would cut it off */
  ensureTimeForCall(): void;
}

export interface SlotsOptions {
  connection: Connection;
  lane: Lane;
  /** Whether the job has waited before: then it is ahead of new ones. */
  cameBack: boolean;
  budget: Budget;
  clock: () => number;
  sleep: (ms: number) => Promise<void>;
  /** When this run must have ended: the Lambda's time-out. Epoch milliseconds. */
  deadline: number;
}

export function createSlots(options: SlotsOptions): Slots {
  const { connection, lane, budget, clock, sleep, deadline } = options;

  async function pauseUntil(at: number, why: string): Promise<void> {
    const ms = at - clock();
    if (ms > LONGEST_PAUSE_MS || at + connection.timeoutMs > deadline) throw new Later(at, why);
    if (ms > 0) await sleep(ms);
  }

  return {
    pauseUntil,
    ensureTimeForCall() {
      if (clock() + connection.timeoutMs > deadline) throw new Later(clock(), 'this run has no time left for a call');
    },
    async take(first) {
      for (let { cameBack } = options; ; cameBack = true) {
        const waitsUntil = Math.min(clock() + LONGEST_PAUSE_MS, deadline - connection.timeoutMs);
        const about = { connection: connection.name, limits: connection.limits };
        const answer = await budget.requestSlot({ ...about, lane, first, cameBack, waitsUntil }).catch((error) => {
          if (!(error instanceof BudgetUnavailable)) throw error;
          throw new Later(clock() + NO_BUDGET_PAUSE_MS, error.message);
        });
        if (!answer.granted) {
          await pauseUntil(answer.comeBackAt, answer.why);
          continue;
        }
        const { slot } = answer;
        if (slot.sendAt > clock()) await sleep(slot.sendAt - clock());
        if (await slot.isGood()) return slot;
        slot.giveUp();
      }
    },
  };
}
