import type { SlotAnswer } from '../../service/budget/budget.ts';
import { createGate, type Gate, type TakenSlot } from '../../service/budget/gate.ts';
import { reachedBy } from '../../service/partner/errors.ts';
import { InLine } from '../record/interruption.ts';
import type { CallingRun } from './calling-run.ts';
import { LONGEST_PAUSE_MS, type Pauses, withBudget } from './pauses.ts';

/** Further commands must not occupy workers that first commands need, nor backfills those that events need. */
const LONGEST_PAUSE_OF_LATER_MS = 1_000;

/** Takes slots of the connection's budget for one run of a job, and waits if the wait fits into the run. */
export interface Slots {
  /**
   * Takes a slot and waits in place until it is due.
   * @param urgent true for resends and searches, which go ahead of other work
   * @throws {InLine} if other jobs are ahead, or the wait is too long for this run
   * @throws {RetryAt} if an urgent call has to wait too long, the run has no time left for a call, the budget is not
   *   available, or an outside contributor's share of the day is used up
   */
  take(urgent: boolean): Promise<TakenSlot>;
  /** @throws as `take`, while the request has not left */
  send: Gate['send'];
  /** True if the run has taken or requested a slot. */
  hasAsked(): boolean;
  /** True if the waiting lines of the connection should advance. */
  lineIsDue(): boolean;
}

export function createSlots(run: CallingRun, pauses: Pauses): Slots {
  const { connection, lane, cameBack, budget, strangerCalls, line, clock, sleep, deadline } = run;
  const isLater = lane === 'further' || lane === 'backfill';
  const longest = isLater ? LONGEST_PAUSE_OF_LATER_MS : LONGEST_PAUSE_MS;
  let lineIsDue = false;
  let hasAsked = false;
  let hasBegun = false;

  async function request(urgent: boolean, askedAt: number): Promise<SlotAnswer> {
    pauses.ensureTimeForCall();
    const { name, limits } = connection;
    const waitsUntil = Math.min(askedAt + longest, deadline - connection.timeoutMs);
    hasAsked = true;
    const asked = { connection: name, limits, lane, urgent, cameBack, hasBegun, waitsUntil };
    const answer = await budget.requestSlot(asked);
    lineIsDue ||= answer.lineIsDue;
    return answer;
  }

  const gate = createGate({
    clock,
    sleep,
    request,
    reached: reachedBy,
    async wait({ askAgainAt, expectedAt, why }) {
      if (askAgainAt === undefined) throw new InLine(why, line ? await line.foresee() : expectedAt);
      // Now, because the call may take ten seconds.
      if (lineIsDue) await line?.moveOn();
      lineIsDue = false;
      await pauses.untilSlot(askAgainAt, why);
    },
  });

  return {
    lineIsDue: () => lineIsDue,
    hasAsked: () => hasAsked,
    async take(urgent) {
      const taken = await withBudget(gate.take(urgent), clock);
      try {
        if (!urgent) await strangerCalls?.take();
      } catch (error) {
        taken.slot.giveUp();
        throw error;
      }
      hasBegun = true;
      return taken;
    },
    send(taken, prepare) {
      const unlessTooLate: typeof prepare = async () => {
        // A slot is promised seconds ahead, and the run may end in the meantime.
        pauses.ensureTimeForCall();
        return prepare();
      };
      return withBudget(gate.send(taken, unlessTooLate), clock);
    },
  };
}
