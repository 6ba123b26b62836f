import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { type BudgetState, readState, stateItem } from './budget-item.ts';
import { type Lane, lanes, type Rank, slotsNow, slotTime } from './lanes.ts';
import { add, callsIn, type Limits, MINUTE, remove } from './window.ts';

export interface SlotRequest {
  connection: string;
  limits: Limits;
  lane: Lane;
  /** Resends, and searches after a lost answer, go ahead of new work. */
  urgent?: boolean;
  /** Whether the job stood in the waiting line: then it is ahead of new ones. */
  cameBack?: boolean;
  /** Until when the caller can wait in place; epoch milliseconds. Without it the caller does not wait. */
  waitsUntil?: number;
}

/** The right to send one call. */
export interface Slot {
  /** Not before; epoch milliseconds by this process's clock. */
  sendAt: number;
  /** Not after. */
  goodUntil: number;
  /**
   * Whether to send now. If it is too late, or the connection was paused in the meantime, give the slot up and request
   * another.
   * @throws {BudgetUnavailable}
   */
  isGood(): Promise<boolean>;
  /** The answer is here, so the service has counted the call. */
  answered(): void;
  /**
   * The call was sent and got no answer: the service may still count it, up to a minute later.
   * @throws {BudgetUnavailable}
   */
  unanswered(): Promise<void>;
  /** Nothing was sent and nothing will be. */
  giveUp(): void;
}

/** What stands between a caller and its slot. */
export type Obstacle = 'minute' | 'day' | 'pause' | 'line';

export type SlotAnswer = (
  | { granted: true; slot: Slot }
  | {
      granted: false;
      obstacle: Obstacle;
      /** The obstacle in words. */
      why: string;
      /** When to ask again. Without it, the wait is longer than the caller's: the job stands in the waiting line. */
      askAgainAt?: number;
      /** When a slot is free, as far as is known; for people. Epoch milliseconds. */
      expectedAt?: number | undefined;
    }
) & {
  /** Whether jobs stand in line that could be told their times now: see {@link Budget.planLine}. */
  lineIsDue: boolean;
};

/** The times at which the jobs in the waiting lines get their slots, as far as the budget knows them. */
export interface LinePlan {
  /** When a job of the lane may send, with so many others ahead of it; undefined while that is not known. */
  slotTime(lane: Lane, ahead: number): number | undefined;
}

/** What a lane can send. */
export interface LaneView {
  /** How many calls at once, for all that the minute and the day have left to the lane. */
  left: { minute: number; day: number };
  /** When the next slot is free, or now. Infinity if that is not known yet. */
  nextSlotAt: number;
}

/** What a connection has left, for people. */
export interface BudgetView {
  /** Slots that count now, of the calls of the last minute and of those about to be sent. */
  minute: { used: number; limit: number };
  day: { used: number; limit: number };
  pausedUntil: number | null;
  lanes: Record<Lane, LaneView>;
}

/**
 * The shared rate budget of every connection.
 *
 * @throws {BudgetUnavailable} from each method
 */
export interface Budget {
  requestSlot(request: SlotRequest): Promise<SlotAnswer>;
  /** Whether a new job of the lane would have to stand in line now, as far as this process has seen in the last seconds. */
  mustStand(connection: string, lane: Lane): Promise<boolean>;
  /** Stops every job of the connection until then. A pause never gets shorter, except by {@link resume}. */
  pause(connection: string, until: number): Promise<void>;
  /** Ends a pause. */
  resume(connection: string): Promise<void>;
  /**
   * Gives the right to move the waiting lines of a connection on, to one caller every few seconds.
   * @param atOnce even if the lines were moved a moment ago
   * @returns undefined for all other callers
   */
  planLine(connection: string, limits: Limits, atOnce?: boolean): Promise<LinePlan | undefined>;
  /** The waiting line of the lane was found empty: new jobs need not stand in it. */
  lineEnded(connection: string, lane: Lane): Promise<void>;
  view(connection: string, limits: Limits): Promise<BudgetView>;
}

/** The budget cannot be read or written, so nothing may be sent. */
export class BudgetUnavailable extends Error {
  override readonly name = 'BudgetUnavailable';
  readonly connection: string;

  constructor(connection: string, cause: unknown) {
    super(`the budget of ${connection} cannot be read or written: ${String(cause)}`, { cause });
    this.connection = connection;
  }
}

/** The clocks of two workers differ by at most this: each is off by up to half of it. */
const CLOCKS_DIFFER_MS = 1_000;
/** From the first byte sent until the caller gives up waiting for an answer: CALL_TIMEOUT_MS in lib/partner/client.ts. */
const LONGEST_FLIGHT_MS = 10_000;
/** A gateway may hold a call that the caller has given up, and pass it on later. Most give up after a minute too. */
const UNANSWERED_MS = MINUTE;
const USUAL_FLIGHT_MS = 1_000;
/** A slot is given up if it is not used this long after its time. */
const GRACE_MS = 1_000;
/** How far ahead a slot is promised. What is promised to one rank cannot go to another any more, so people come first. */
const PROMISED_AHEAD_MS: Readonly<Record<Rank, number>> = {
  urgent: 700,
  interactive: 5_000,
  further: 700,
  background: 700,
};
/** Callers that wait in place for the same opening do not ask for it at the same moment. */
const SPREAD_MS: Readonly<Record<Rank, number>> = { urgent: 300, interactive: 100, further: 300, background: 300 };
/** How often the waiting lines are moved on while workers are at work. The sweep does it every minute in any case. */
const MOVE_EVERY_MS = 15_000;
/** For so long a process trusts what it last saw of the lines. */
const SEEN_MS = 2_000;
/** The index of the waiting line may lag behind by this much. */
const INDEX_LAG_MS = 10_000;
const CONTENDED_TRIES = 30;
const FIRST_PAUSE_MS = 15;
const LONGEST_PAUSE_MS: Readonly<Record<Rank, number>> = {
  urgent: 120,
  interactive: 240,
  further: 1_000,
  background: 1_000,
};

/** What a call has become: changes a booking. */
type Correction = (state: BudgetState) => void;

/**
 * A budget that is exact for a sliding minute and a sliding day, and so for every way in which the service may count:
 * docs/decisions/0008-exact-budget.md. A connection's state is one item; every change of it is one conditional write.
 *
 * @param sleep waits before a write is repeated that another worker was ahead of
 */
export function createBudget(
  table: Table,
  clock: () => number,
  random: () => number = Math.random,
  sleep: (ms: number) => Promise<unknown> = (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
): Budget {
  /** They ride on the next write, so that an answer costs no write. A process that ends takes them along without harm. */
  const corrections = new Map<string, Correction[]>();
  const seen = new Map<string, { lines: BudgetState['lineSince']; at: number }>();

  async function read(connection: string): Promise<BudgetState> {
    try {
      const state = readState(await table.get(keys.budget(connection)), clock());
      seen.set(connection, { lines: state.lineSince, at: clock() });
      return state;
    } catch (error) {
      throw new BudgetUnavailable(connection, error);
    }
  }

  /** @returns false if another worker has written in the meantime */
  async function write(connection: string, state: BudgetState): Promise<boolean> {
    const { version } = state;
    try {
      return await table.put(
        { ...keys.budget(connection), ...stateItem({ ...state, version: version + 1 }) },
        { expression: 'attribute_not_exists(#pk) OR #version = :version', values: { version } },
      );
    } catch (error) {
      throw new BudgetUnavailable(connection, error);
    }
  }

  /**
   * Reads the state and lets `decide` change it, again and again until no other worker was faster.
   * @param decide returns the answer, and whether it changed the state
   */
  async function change<T>(
    connection: string,
    rank: Rank,
    decide: (state: BudgetState, now: number) => { answer: T; changed: boolean },
  ): Promise<T> {
    for (let tries = 0; tries < CONTENDED_TRIES; tries++) {
      if (tries > 0) await sleep(random() * Math.min(LONGEST_PAUSE_MS[rank], FIRST_PAUSE_MS * 2 ** tries));
      const state = await read(connection);
      const riding = [...(corrections.get(connection) ?? [])];
      for (const correct of riding) correct(state);
      const { answer, changed } = decide(state, clock());
      if (!changed) return answer;
      if (!(await write(connection, state))) continue;
      corrections.set(
        connection,
        (corrections.get(connection) ?? []).filter((one) => !riding.includes(one)),
      );
      return answer;
    }
    throw new BudgetUnavailable(connection, new Error(`other workers were faster ${CONTENDED_TRIES} times in a row`));
  }

  function slotOf(connection: string, sendAt: number, isPromised: boolean): Slot {
    const goodUntil = sendAt + GRACE_MS;
    const correctLater = (correct: Correction) =>
      void corrections.set(connection, [...(corrections.get(connection) ?? []), correct]);
    return {
      sendAt,
      goodUntil,
      async isGood() {
        if (clock() > goodUntil) return false;
        return !isPromised || (await read(connection)).pausedUntil <= clock();
      },
      answered() {
        const countedBy = clock() + CLOCKS_DIFFER_MS;
        correctLater((state) => {
          if (remove(state.minute, bookedBy(sendAt))) add(state.minute, countedBy);
        });
      },
      async unanswered() {
        const countedBy = clock() + UNANSWERED_MS + CLOCKS_DIFFER_MS;
        await change(connection, 'urgent', (state) => {
          cancel(state, bookedBy(sendAt));
          book(state, countedBy);
          return { answer: undefined, changed: true };
        });
      },
      giveUp: () => correctLater((state) => cancel(state, bookedBy(sendAt))),
    };
  }

  return {
    async requestSlot({ connection, limits, lane, urgent = false, cameBack = false, waitsUntil }) {
      const rank: Rank = urgent ? 'urgent' : lane;
      return change(connection, rank, (state, now): { answer: SlotAnswer; changed: boolean } => {
        const lineIsDue = standsAnyone(state) && state.movedAt + MOVE_EVERY_MS <= now;
        const isBehindOthers = !urgent && !cameBack && mustStandBehind(state.lineSince, lane);
        const next = nextSlot(state, limits, rank, now);
        if (!isBehindOthers && next.at <= now + (state.pausedUntil > now ? 0 : PROMISED_AHEAD_MS[rank])) {
          const sendAt = Math.max(now, Math.ceil(next.at));
          book(state, bookedBy(sendAt));
          const slot = slotOf(connection, sendAt, sendAt > now);
          return { answer: { granted: true, slot, lineIsDue }, changed: true };
        }
        const obstacle = isBehindOthers ? 'line' : next.by;
        const expectedAt = Number.isFinite(next.at) ? Math.ceil(Math.max(now, next.at)) : undefined;
        const refusal = { granted: false as const, obstacle, why: inWords(obstacle, limits), expectedAt, lineIsDue };
        const askAgainAt = Math.max(now + 1, next.at - PROMISED_AHEAD_MS[rank] + random() * SPREAD_MS[rank]);
        const waitsInPlace = !isBehindOthers && askAgainAt <= (waitsUntil ?? now);
        if (urgent || waitsInPlace) return { answer: { ...refusal, askAgainAt }, changed: false };
        const isFirst = state.lineSince[lane] === 0;
        if (isFirst) state.lineSince[lane] = now;
        return { answer: { ...refusal, lineIsDue: lineIsDue || isFirst }, changed: isFirst };
      });
    },
    async mustStand(connection, lane) {
      const last = seen.get(connection);
      const lines = last && last.at + SEEN_MS > clock() ? last.lines : (await read(connection)).lineSince;
      return mustStandBehind(lines, lane);
    },
    async pause(connection, until) {
      await change(connection, 'urgent', (state) => {
        const changed = until > state.pausedUntil;
        if (changed) state.pausedUntil = Math.ceil(until);
        return { answer: undefined, changed };
      });
    },
    async resume(connection) {
      await change(connection, 'urgent', (state) => {
        const changed = state.pausedUntil > 0;
        state.pausedUntil = 0;
        return { answer: undefined, changed };
      });
    },
    async planLine(connection, limits, atOnce = false) {
      return change<LinePlan | undefined>(connection, 'background', (state, now) => {
        if (!atOnce && state.movedAt + MOVE_EVERY_MS > now) return { answer: undefined, changed: false };
        state.movedAt = now;
        return { answer: planOf(state, limits, now), changed: true };
      });
    },
    async lineEnded(connection, lane) {
      await change(connection, 'background', (state, now) => {
        const since = state.lineSince[lane];
        // A job that has just been sent to the line may not be in its index yet.
        const changed = since > 0 && since + INDEX_LAG_MS <= now;
        if (changed) state.lineSince[lane] = 0;
        return { answer: undefined, changed };
      });
    },
    async view(connection, limits) {
      const now = clock();
      const state = await read(connection);
      const { minute, day, pausedUntil } = state;
      const lane = (lane: Lane): LaneView => ({
        left: slotsNow(state, limits, lane, now),
        nextSlotAt: Math.max(now, Math.ceil(nextSlot(state, limits, lane, now).at)),
      });
      return {
        minute: { used: Math.min(callsIn(minute), limits.perMinute), limit: limits.perMinute },
        day: { used: callsIn(day), limit: limits.perDay },
        pausedUntil: pausedUntil > now ? pausedUntil : null,
        lanes: { interactive: lane('interactive'), further: lane('further'), background: lane('background') },
      };
    },
  };
}

/** When the service has counted the call of a slot, if the call takes as long as it may. */
const bookedBy = (sendAt: number) => sendAt + GRACE_MS + LONGEST_FLIGHT_MS + CLOCKS_DIFFER_MS;

function book(state: BudgetState, countedBy: number): void {
  add(state.minute, countedBy);
  add(state.day, countedBy);
}

function cancel(state: BudgetState, countedBy: number): void {
  remove(state.minute, countedBy);
  remove(state.day, countedBy);
}

function nextSlot(state: BudgetState, limits: Limits, rank: Rank, now: number): { at: number; by: Obstacle } {
  const slot = slotTime(state, limits, rank, 0);
  return state.pausedUntil > Math.max(now, slot.at) ? { at: state.pausedUntil, by: 'pause' } : slot;
}

const standsAnyone = ({ lineSince }: BudgetState) => lanes.some((lane) => lineSince[lane] > 0);

/** New jobs stand behind those of their lane and of the lanes before it. */
function mustStandBehind(lineSince: BudgetState['lineSince'], lane: Lane): boolean {
  return lanes.slice(0, lanes.indexOf(lane) + 1).some((before) => lineSince[before] > 0);
}

function planOf(state: BudgetState, limits: Limits, now: number): LinePlan {
  // A call under way is booked for the longest flight, and most are much shorter.
  const expected = now + USUAL_FLIGHT_MS + CLOCKS_DIFFER_MS + MINUTE;
  const booked = bookedBy(now) + MINUTE;
  return {
    slotTime(lane, ahead) {
      const { at, by } = slotTime(state, limits, lane, ahead);
      if (at === Number.POSITIVE_INFINITY) return undefined;
      const isUnderWay = by === 'minute' && at > expected && at <= booked;
      return Math.ceil(Math.max(now, isUnderWay ? expected : at, state.pausedUntil));
    },
  };
}

function inWords(obstacle: Obstacle, { perMinute, perDay }: Limits): string {
  switch (obstacle) {
    case 'minute':
      return `the minute's ${perMinute} calls are used up`;
    case 'day':
      return `the day's ${perDay} calls are used up`;
    case 'pause':
      return 'the connection is paused';
    case 'line':
      return 'other jobs are ahead of it';
  }
}
