import type { Budget, SlotAnswer } from '../../service/budget/budget.ts';
import { createGate, type TakenSlot } from '../../service/budget/gate.ts';
import type { Lane } from '../../service/budget/lanes.ts';
import { mostOfStrangers, type StrangerShare } from '../../service/budget/stranger-share.ts';
import type { Connection } from '../../service/connection/connection.ts';
import { reachedBy } from '../../service/partner/errors.ts';
import { InLine, RetryAt } from '../record/interruption.ts';
import { LONGEST_PAUSE_MS, type Pauses, withBudget } from './pauses.ts';

/**
 * The longest pause in place for the lanes `further` and `backfill`. They must not occupy workers that first commands
 * or events need. The line wakes them a second before their slot, and requests are spread over 0.3 seconds: with a
 * shorter pause, the line would wake a job again at once, and again.
 */
const LONGEST_PAUSE_OF_LATER_MS = 1_500;

export interface StrangersWait {
  news: 'strangers wait';
  who: readonly string[];
}

export interface SlotsOptions {
  connection: Connection;
  lane: Lane;
  /** True if the job has waited before. It then goes ahead of new jobs. */
  cameBack: boolean;
  /** The outside contributor who caused the job, and the share of the day for all outside contributors. */
  stranger?: { login: string; share: StrangerShare } | undefined;
  budget: Budget;
  /** The waiting line of the job's lane. Its functions do not throw, because the call matters more. */
  line?: {
    /** Moves the waiting lines of the connection on. */
    moveOn(): Promise<void>;
    /** Returns when the job would get a slot from the line; undefined if that is too far away to tell. */
    foresee(): Promise<number | undefined>;
  };
  clock: () => number;
  sleep: (ms: number) => Promise<void>;
  /** When the run must have ended, a second before the Lambda's time-out. Epoch milliseconds. */
  deadline: number;
  report: (news: StrangersWait) => void;
}

/**
 * The slots of one run. A call caused by an outside contributor also needs a share of the day, and a request leaves
 * only while its slot is good.
 */
export function createSlots(run: SlotsOptions, pauses: Pauses) {
  const { connection, lane, budget, line, stranger, clock, sleep, deadline, report } = run;
  const { name, limits } = connection;
  const isLater = lane === 'further' || lane === 'backfill';
  const longestPause = isLater ? LONGEST_PAUSE_OF_LATER_MS : LONGEST_PAUSE_MS;
  const mostCallsOfStrangers = mostOfStrangers(limits, connection.strangersShare);
  let hasAsked = false;
  let hasBegun = false;
  let lineIsDue = false;

  const gate = createGate({
    clock,
    sleep,
    reached: reachedBy,
    async request(urgent, askedAt): Promise<SlotAnswer> {
      pauses.ensureTimeForCall();
      const waitsUntil = Math.min(askedAt + longestPause, deadline - connection.timeoutMs);
      hasAsked = true;
      const { cameBack } = run;
      const answer = await budget.requestSlot({
        connection: name,
        limits,
        lane,
        urgent,
        cameBack,
        hasBegun,
        waitsUntil,
      });
      lineIsDue ||= answer.lineIsDue;
      return answer;
    },
    async wait({ askAgainAt, expectedAt, why }) {
      if (askAgainAt === undefined) throw new InLine(why, line ? await line.foresee() : expectedAt);
      // Moved on before the wait, because the wait and the call may take ten seconds.
      if (lineIsDue) await line?.moveOn();
      lineIsDue = false;
      await pauses.untilSlot(askAgainAt, why);
    },
  });

  /**
   * Takes a slot and waits in place until it is due.
   * @throws {InLine} if other jobs are ahead, or the wait is too long for this run
   * @throws {RetryAt} if an urgent call has to wait too long, the run has no time left for a call, the budget is not
   *   available, or an outside contributor's share of the day is used up
   */
  async function take(urgent: boolean): Promise<TakenSlot> {
    const taken = await withBudget(gate.take(urgent), clock);
    try {
      if (!urgent) await takeShare();
    } catch (error) {
      taken.slot.giveUp();
      throw error;
    }
    hasBegun = true;
    return taken;
  }

  /** Counts a call that an outside contributor caused. @throws {RetryAt} if their share of the day is used up */
  async function takeShare(): Promise<void> {
    if (stranger && !(await stranger.share.take(name, stranger.login, mostCallsOfStrangers)))
      throw await untilTomorrow(stranger.share);
  }

  /** @throws {RetryAt} if the outside contributors' share of the day is used up */
  async function ensureShare(): Promise<void> {
    if (stranger && (await stranger.share.today(name)).used >= mostCallsOfStrangers)
      throw await untilTomorrow(stranger.share);
  }

  async function untilTomorrow(share: StrangerShare): Promise<RetryAt> {
    const { who, endsAt } = await share.today(name);
    report({ news: 'strangers wait', who });
    return new RetryAt(endsAt, `the ${mostCallsOfStrangers} calls per day for strangers are used up`, {
      releasesQueueGroup: true,
      waitsFor: 'budget',
    });
  }

  /** Sends a request in its slot. @throws as `take`, before the request leaves */
  function send<T>(taken: TakenSlot, prepare: () => Promise<(taken: TakenSlot) => Promise<T>>): Promise<T> {
    const unlessTooLate: typeof prepare = async () => {
      // A slot is granted seconds ahead, and the run may end in the meantime.
      pauses.ensureTimeForCall();
      return prepare();
    };
    return withBudget(gate.send(taken, unlessTooLate), clock);
  }

  return {
    take,
    send,
    takeShare,
    ensureShare,
    /** True if the run has taken or requested a slot. */
    hasAsked: () => hasAsked,
    /** True if the waiting lines of the connection should move on. */
    lineIsDue: () => lineIsDue,
  };
}
