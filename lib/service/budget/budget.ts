import { type AssumedLimit, assumedPerMinute, learn } from './assumed-limit.ts';
import { type BudgetState, LONGEST_PAUSE_MS, linesOf, MOVE_EVERY_MS } from './budget-item.ts';
import { type BudgetStoreOptions, createBudgetStore } from './budget-store.ts';
import { type Foreseen, foresee } from './forecast.ts';
import { isOfPeople, type Lane, lanes, ofEachLane } from './lanes.ts';
import { type Rank, slotTime, type Windows } from './slot-time.ts';
import { add, callsBetween, callsIn, DAY, type Limits, MINUTE, remove } from './window.ts';

export interface SlotRequest {
  connection: string;
  limits: Limits;
  lane: Lane;
  /** Resends, and searches after a lost answer, go ahead of new work. */
  urgent?: boolean;
  /** Whether the job was in the waiting line: then it is ahead of new jobs. */
  cameBack?: boolean;
  /** Whether this run of the job has asked before: a person's command that has begun ends before others begin. */
  hasBegun?: boolean;
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
  /**
   * The answer is here, so the service has counted the call.
   * @throws {BudgetUnavailable} if the call left so late that its booking is over
   */
  answered(): Promise<void>;
  /**
   * The call was sent and got no answer: the service may still count it, up to a minute later.
   * @throws {BudgetUnavailable}
   */
  unanswered(): Promise<void>;
  /** Nothing was sent and nothing will be. */
  giveUp(): void;
}

export type Obstacle = 'minute' | 'day' | 'pause' | 'line';

export type SlotAnswer = (
  | { granted: true; slot: Slot }
  | {
      granted: false;
      obstacle: Obstacle;
      why: string;
      /** When to ask again. Without it, the wait is longer than the caller's: the job stands in the waiting line. */
      askAgainAt?: number;
      /** When a slot is free, as far as is known; for people. Epoch milliseconds. */
      expectedAt?: number | undefined;
    }
) & {
  /** Whether the caller should move the waiting lines on when it has time: see {@link Budget.planLine}. */
  lineIsDue: boolean;
};

/** The times at which the jobs in the waiting lines get their slots, as far as the budget knows them. */
export interface LinePlan {
  /** Epoch milliseconds; 0 without a pause. */
  pausedUntil: number;
  /**
   * When a job of the lane may send, with that number of others ahead of it; undefined while that is not known, and if it
   * is too late to call the job now ({@link CALLED_AHEAD_MS}).
   */
  slotTime(lane: Lane, ahead: number): number | undefined;
}

/** The calls of a time that the table knows nothing about. */
export interface LostCalls {
  /** Epoch milliseconds. */
  from: number;
  /** Epoch milliseconds. */
  to: number;
  /** How many the service says; by default all that the limits allow in that time. */
  calls?: number | undefined;
  /** This many calls of the day stay free in any case. */
  left: number;
}

/** What a lane can send. */
export interface LaneView {
  /** How many calls it can send at once. */
  left: number;
  /** When the next slot is free, or now. Infinity if that is not known yet. */
  nextSlotAt: number;
}

/** What a connection has left, for people. */
export interface BudgetView {
  /** Slots that count now, of the calls of the last minute and of those about to be sent. */
  minute: { used: number; limit: number };
  day: { used: number; limit: number };
  pausedUntil: number | null;
  /** If the service seems to allow fewer calls a minute than configured: how many, and since when that is known. */
  assumed: { perMinute: number; since: number } | null;
  lanes: Record<Lane, LaneView>;
}

/**
 * The shared rate budget of every connection.
 *
 * @throws {BudgetUnavailable} from each method
 */
export type Budget = ReturnType<typeof createBudget>;

/** The clocks of two workers differ by at most this: each is off by up to half of it. */
const CLOCKS_DIFFER_MS = 1_000;
/** From the first byte sent until the caller gives up waiting: CALL_TIMEOUT_MS in lib/service/partner/client.ts. */
const LONGEST_FLIGHT_MS = 10_000;
/** A gateway may hold a call that the caller has given up, and pass it on later. Most give up after a minute too. */
const UNANSWERED_MS = MINUTE;
const USUAL_FLIGHT_MS = 1_000;
/** A slot is given up if it is not used this long after its time. */
const GRACE_MS = 1_000;
/**
 * How far ahead a slot is promised. What is promised to one cannot go to another any more, so people come first. But
 * while a command of several calls is under way, it ends before others begin.
 */
const PROMISED_AHEAD_MS = { people: 5_000, others: 700 };
/** A command's next call comes this long after the last one at the latest; if not, the last one was probably the end. */
const NEXT_CALL_MS = 1_500;
/** Callers that wait in place for the same opening do not ask for it at the same moment. */
const SPREAD_MS: Readonly<Record<Rank, number>> = {
  urgent: 300,
  interactive: 100,
  further: 300,
  background: 300,
  backfill: 300,
};
/** The lines are moved on within this time. If not, who had the right to it has probably crashed. */
const MOVING_MS = 1_000;
/**
 * New jobs leave this many slots to those in line, and take any others that are free. Jobs that are called from the line can be
 * held up behind thousands of messages that are new.
 */
const LEFT_TO_LINE = 5;
/**
 * With so many calls under way, new background jobs of a connection stand in line. Its line then gives it as many slots as
 * the service allows, and leaves workers to the events of others.
 */
const SHARE_OF_WORKERS = 4;
/** For this long, a process trusts what it last saw of the lines. */
const SEEN_MS = 2_000;
/** The index of the waiting line may lag behind by this much, with what the clocks differ by. */
export const INDEX_LAG_MS = 2_000;
/** Only the jobs of the next two minutes are called; the times of the others are not known yet. */
export const CALLED_AHEAD_MS = 2 * MINUTE;
/** The pause for a 429 without a Retry-After, from which nothing was learned. */
const PAUSE_MS = MINUTE;
/** If the limit was lowered, slots open only as earlier calls stop counting. The pause lets calls under way end. */
const PAUSE_AFTER_LEARNING_MS = 5_000;

/** By default, the clock is that of the table, and no key is known. */
export type BudgetOptions = Pick<BudgetStoreOptions, 'table'> &
  Partial<BudgetStoreOptions> & {
    /** Whether other connections need the workers, too. */
    sharesWorkers?: boolean;
  };

/**
 * A budget that is exact for a sliding minute and a sliding day, and so for every way in which the service may count:
 * docs/decisions/0008-exact-budget.md. The state is one item for each key; every change of it is one conditional write.
 */
export function createBudget({
  table,
  clock = table.clock.now,
  random = Math.random,
  sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  keyHolder = () => undefined,
  warn = () => {},
  sharesWorkers = false,
}: BudgetOptions) {
  const store = createBudgetStore({ table, clock, random, sleep, keyHolder, warn });

  /** @param id of the budget that it was taken from: the connection may have another key by now */
  function slotOf(connection: string, id: string, lane: Lane, sendAt: number, isPromised: boolean): Slot {
    const goodUntil = sendAt + GRACE_MS;

    /** The service has counted the call by then. What the booking does not cover is written at once. */
    async function countUntil(countedBy: number): Promise<void> {
      const correct = (state: BudgetState) => {
        cancel(state, lane, bookedBy(sendAt));
        book(state, lane, countedBy, clock());
      };
      if (countedBy <= bookedBy(sendAt)) return store.changeLater(id, { correct, frees: true });
      try {
        await store.changeById(id, 'urgent', (state) => ({ answer: correct(state), changed: true }));
      } catch (error) {
        store.changeLater(id, { correct, frees: false });
        throw error;
      }
    }

    return {
      sendAt,
      goodUntil,
      async isGood() {
        if (clock() > goodUntil) return false;
        return !isPromised || (await store.read(connection)).pausedUntil <= clock();
      },
      answered: () => countUntil(clock() + CLOCKS_DIFFER_MS),
      unanswered: () => countUntil(clock() + UNANSWERED_MS + CLOCKS_DIFFER_MS),
      giveUp: () => store.changeLater(id, { correct: (state) => cancel(state, lane, bookedBy(sendAt)), frees: true }),
    };
  }

  return {
    async requestSlot({
      connection,
      limits: configured,
      lane,
      urgent = false,
      cameBack = false,
      hasBegun = false,
      waitsUntil,
    }: SlotRequest) {
      const rank: Rank = urgent ? 'urgent' : lane;
      return store.change(connection, rank, (state, now, id): { answer: SlotAnswer; changed: boolean } => {
        const limits = limitsNow(state, configured, now);
        const { joinedAt, movesAt } = linesOf(state, connection);
        const lineIsDue = lanes.some((one) => joinedAt[one] > 0) && movesAt <= now;
        const isBehindOthers = !urgent && mustStandBehind(state, limits, lane, now, cameBack);
        const next = nextSlot(state, limits, rank, now);
        // Nothing is promised during a pause, which may be lifted or become longer.
        const aheadMs = state.pausedUntil > now ? 0 : promisedAheadMs(state, rank, hasBegun, now);
        if (!isBehindOthers && next.at <= now + aheadMs) {
          const sendAt = Math.max(now, Math.ceil(next.at));
          book(state, lane, bookedBy(sendAt), now);
          if (hasBegun && isOfPeople(lane)) state.busyUntil = Math.max(state.busyUntil, sendAt + NEXT_CALL_MS);
          const slot = slotOf(connection, id, lane, sendAt, sendAt > now);
          return { answer: { granted: true, slot, lineIsDue }, changed: true };
        }
        const obstacle = isBehindOthers ? 'line' : next.by;
        const expectedAt = Number.isFinite(next.at) ? Math.ceil(Math.max(now, next.at)) : undefined;
        const refusal = {
          granted: false as const,
          obstacle,
          why: inWords(obstacle, limits, rank),
          expectedAt,
          lineIsDue,
        };
        const askAgainAt = Math.max(now + 1, next.at - aheadMs + random() * SPREAD_MS[rank]);
        const waitsInPlace = !isBehindOthers && askAgainAt <= (waitsUntil ?? now);
        if (urgent || waitsInPlace) return { answer: { ...refusal, askAgainAt }, changed: false };
        return { answer: refusal, changed: false };
      });
    },
    /**
     * Whether a new job of the lane stands in line before it runs, as far as this process has seen in the last seconds:
     * other jobs are ahead of it, or its connection has its share of calls under way. Where other connections need the
     * workers, it then stands even if slots are free: the line uses them as fast as the limit allows, and no faster. It
     * never stands for a pause or the next day: perhaps it needs no slot.
     * @returns whether a called job is on the way that finds it there (if not, the caller moves the line on); undefined if it runs
     */
    async standsFirst(connection: string, limits: Limits, lane: Lane): Promise<{ isFound: boolean } | undefined> {
      const state = await store.read(connection, SEEN_MS);
      const now = clock();
      const allowed = limitsNow(state, limits, now);
      const isFound = linesOf(state, connection).movesAt >= now + INDEX_LAG_MS;
      if (isFound && mustStandBehind(state, allowed, lane, now)) return { isFound };
      const hasItsShare = isBehind(state, lane) || callsUnderWay(state, now) >= SHARE_OF_WORKERS;
      const opensSoon = state.pausedUntil <= now && slotTime(state, allowed, lane, 0, now).at <= now + MINUTE;
      return sharesWorkers && hasItsShare && opensSoon ? { isFound } : undefined;
    },
    /** Writes how this process's last calls ended, so that their slots open as early as they can. */
    flush: store.flush,
    /**
     * The service answered 429: stops every job of the connection for a time, and learns what it seems to allow.
     * @param forMs what the service asked for, if it did
     * @returns until when; a pause never gets shorter, except by `resume`
     */
    async pause(connection: string, limits: Limits, forMs?: number): Promise<number> {
      let learned: AssumedLimit | undefined;
      const until = await store.change(connection, 'urgent', (state, now) => {
        // Calls that were under way when the pause began say nothing new.
        if (forMs === undefined && state.pausedUntil > now) return { answer: state.pausedUntil, changed: false };
        learned = learn(state.assumed, state.minute, limits.perMinute, now);
        if (learned) state.assumed = learned;
        const usual = learned ? PAUSE_AFTER_LEARNING_MS : PAUSE_MS;
        const until = Math.ceil(now + Math.min(forMs ?? usual, LONGEST_PAUSE_MS));
        const isLonger = until > state.pausedUntil;
        if (isLonger) state.pausedUntil = until;
        return { answer: state.pausedUntil, changed: isLonger || learned !== undefined };
      });
      if (learned) {
        const { perMinute } = learned;
        warn({ message: 'the service seems to allow fewer calls a minute than configured', connection, perMinute });
      }
      return until;
    },
    /** Ends a pause, and forgets what the service seems to allow. */
    async resume(connection: string): Promise<void> {
      await store.change(connection, 'urgent', (state) => {
        const changed = state.pausedUntil > 0 || state.assumed !== undefined;
        state.pausedUntil = 0;
        state.assumed = undefined;
        return { answer: undefined, changed };
      });
    },
    /**
     * Counts as many calls as the key can have made in a time that the table knows nothing about, and all of the last
     * minute's. To do so again changes nothing.
     * @returns how many calls of the day that makes
     */
    async assumeUsed(connection: string, limits: Limits, lost: LostCalls): Promise<number> {
      return store.change(connection, 'urgent', (state, now) => {
        const { minute, day } = state;
        // What is counted ahead of the clock does not count now. The operator's clock may be ahead.
        const to = Math.min(lost.to, now);
        const from = Math.max(lost.from, now - DAY);
        const beganAt = Math.floor(from / day.bucketMs) * day.bucketMs;
        const minutes = Math.max(0, Math.ceil((to - beganAt) / MINUTE)) + 1;
        const { calls = limits.perMinute * minutes } = lost;
        const missing = Math.min(calls - callsBetween(day, from, to), limits.perDay - lost.left - callsIn(day));
        if (to > now - DAY) add(day, to, Math.max(0, missing));
        add(minute, bookedBy(now), Math.max(0, limits.perMinute - callsIn(minute)));
        return { answer: callsIn(day), changed: true };
      });
    },
    /** The budget that the connection uses. Connections with the same key share one. */
    idOf: store.idOf,
    /**
     * Gives the right to move the waiting lines of a connection on, to one caller, unless somebody is on the way who does.
     * @param how `atOnce` to get it in any case; `joined` is the lane in whose line the caller has just put a job, which the
     * index may not show yet
     * @returns undefined for all other callers
     */
    async planLine(connection: string, limits: Limits, how: { atOnce?: boolean; joined?: Lane | undefined } = {}) {
      const { atOnce = false, joined } = how;
      return store.change<LinePlan | undefined>(connection, 'background', (state, now) => {
        const lines = linesOf(state, connection);
        const isFirst = joined !== undefined && lines.joinedAt[joined] === 0;
        if (atOnce || isFirst || lines.movesAt <= now) {
          const plan = planOf(state, limitsNow(state, limits, now), now);
          if (joined) lines.joinedAt[joined] ||= now - INDEX_LAG_MS;
          // An empty line, or a line without a free slot, needs no mover: the sweep looks at it every minute.
          const moves = lanes.some((lane) => lines.joinedAt[lane] > 0 && plan.slotTime(lane, 0) !== undefined);
          if (moves) lines.movesAt = now + MOVING_MS;
          return { answer: plan, changed: moves || isFirst };
        }
        if (!joined || lines.movesAt >= now + INDEX_LAG_MS) return { answer: undefined, changed: false };
        // The one who is on the way may not find the job in the index, and then looks again.
        lines.joinedAt[joined] = now;
        return { answer: undefined, changed: true };
      });
    },
    /**
     * Notes the lines as the caller leaves them.
     * @param standing the lanes in which jobs wait: new jobs go behind them
     * @param lookedAt when the caller began to read the index
     * @param comesAt when the last of those that are called from the lines is awake; undefined if there is none
     * @returns when to move the lines on again, because nobody is on the way to a job that the index did not show yet
     */
    async noteLines(connection: string, standing: readonly Lane[], lookedAt: number, comesAt?: number) {
      return store.change<number | undefined>(connection, 'background', (state, now) => {
        const lines = linesOf(state, connection);
        const { joinedAt, movesAt } = lines;
        const before = { ...joinedAt };
        const seenAt = Math.max(...lanes.map((lane) => joinedAt[lane])) + INDEX_LAG_MS;
        for (const lane of lanes) {
          if (standing.includes(lane)) joinedAt[lane] ||= now - INDEX_LAG_MS;
          else if (joinedAt[lane] + INDEX_LAG_MS <= lookedAt) joinedAt[lane] = 0;
        }
        const isComing = comesAt !== undefined;
        lines.movesAt = isComing ? Math.min(Math.max(comesAt, now), now + MOVE_EVERY_MS) : Math.min(movesAt, now);
        const changed = lines.movesAt !== movesAt || lanes.some((lane) => joinedAt[lane] !== before[lane]);
        return { answer: !isComing && seenAt > lookedAt ? Math.max(seenAt, now) : undefined, changed };
      });
    },
    /** When that number of calls will have been sent, as far as the budget and the last week tell; epoch milliseconds. */
    async foresee(connection: string, limits: Limits, foreseen: Foreseen): Promise<number> {
      const state = await store.read(connection);
      return foresee(state, limitsNow(state, limits, clock()), foreseen, clock());
    },
    /** When a job of the lane gets its slot from the line, with that number of jobs ahead of it; epoch milliseconds. */
    async foreseeSlot(connection: string, configured: Limits, lane: Lane, ahead: number): Promise<number> {
      const state = await store.read(connection);
      const now = clock();
      const limits = limitsNow(state, configured, now);
      const { slotTime } = planOf(state, limits, now);
      const [first = now, known] = [slotTime(lane, 0), slotTime(lane, ahead)];
      // The line calls its jobs at the pace of the limit.
      if (known !== undefined) return Math.max(known, Math.ceil(first + ahead * (MINUTE / limits.perMinute)));
      return Math.ceil(foresee(state, limits, { lane, calls: 1, ahead }, now));
    },
    /** The calls that count now, by buckets of time. Those that are about to be sent are in buckets of the future. */
    async windows(connection: string): Promise<Pick<Windows, 'minute' | 'day'>> {
      const { minute, day } = await store.read(connection);
      return { minute, day };
    },
    async view(connection: string, configured: Limits): Promise<BudgetView> {
      const state = await store.read(connection);
      const now = clock();
      const { minute, day, pausedUntil, assumed } = state;
      const limits = limitsNow(state, configured, now);
      const isAssumed = assumed !== undefined && limits.perMinute < configured.perMinute;
      const lane = (lane: Lane): LaneView => ({
        left: pausedUntil > now ? 0 : slotsNow(state, limits, lane, now),
        nextSlotAt: Math.max(now, Math.ceil(nextSlot(state, limits, lane, now).at)),
      });
      return {
        minute: { used: Math.min(callsIn(minute), limits.perMinute), limit: limits.perMinute },
        day: { used: callsIn(day), limit: limits.perDay },
        pausedUntil: pausedUntil > now ? pausedUntil : null,
        assumed: isAssumed ? { perMinute: limits.perMinute, since: assumed.at } : null,
        lanes: ofEachLane(lane),
      };
    },
  };
}

/**
 * When the service has counted the call of a slot at the latest. The budget counts the call from the booking until a
 * minute after this, so no minute of the service has more calls than a minute of the budget.
 */
const bookedBy = (sendAt: number) => sendAt + GRACE_MS + LONGEST_FLIGHT_MS + CLOCKS_DIFFER_MS;

/** Calls that have a slot and no answer yet. One without any answer has none to come, and counts for a minute more. */
const callsUnderWay = ({ minute }: BudgetState, now: number): number =>
  callsBetween(minute, now + CLOCKS_DIFFER_MS + 2 * minute.bucketMs, bookedBy(now + PROMISED_AHEAD_MS.others));

function promisedAheadMs({ busyUntil }: BudgetState, rank: Rank, hasBegun: boolean, now: number): number {
  const isFirst = hasBegun ? rank === 'interactive' || rank === 'further' : rank === 'interactive' && busyUntil <= now;
  return isFirst ? PROMISED_AHEAD_MS.people : PROMISED_AHEAD_MS.others;
}

const windowsOf = ({ minute, day, events, people }: BudgetState, lane: Lane) => [
  ...[minute, day],
  ...(lane === 'backfill' ? [] : [events]),
  ...(isOfPeople(lane) ? [people] : []),
];

const limitsNow = ({ assumed }: BudgetState, { perMinute, perDay }: Limits, now: number): Limits => ({
  perMinute: assumedPerMinute(assumed, perMinute, now),
  perDay,
});

/** In each window that the call has not left. */
function book(state: BudgetState, lane: Lane, countedBy: number, now: number): void {
  for (const window of windowsOf(state, lane)) if (countedBy > now - window.lengthMs) add(window, countedBy);
}

function cancel(state: BudgetState, lane: Lane, countedBy: number): void {
  for (const window of windowsOf(state, lane)) remove(window, countedBy);
}

function nextSlot(state: BudgetState, limits: Limits, rank: Rank, now: number): { at: number; by: Obstacle } {
  const slot = slotTime(state, limits, rank, 0, now);
  return state.pausedUntil > Math.max(now, slot.at) ? { at: state.pausedUntil, by: 'pause' } : slot;
}

function slotsNow(state: BudgetState, limits: Limits, lane: Lane, now: number): number {
  // A caller with more others ahead of it never sends earlier, so the first that has to wait is found by bisection.
  let [slots, tooMany] = [0, limits.perMinute];
  while (slots < tooMany) {
    const middle = Math.floor((slots + tooMany) / 2);
    if (slotTime(state, limits, lane, middle, now).at <= now) slots = middle + 1;
    else tooMany = middle;
  }
  return slots;
}

/**
 * New jobs stand behind those of their lane and of the lanes before it, unless more slots are free than the line can use
 * now. A person's first command takes any free slot: it must not wait because the line has just come to its end. A job
 * that was called from the line takes its slot, except for one of a backfill: events that came since go before it.
 */
function mustStandBehind(state: BudgetState, limits: Limits, lane: Lane, now: number, cameBack = false): boolean {
  if (lane === 'interactive' || (cameBack && lane !== 'backfill')) return false;
  return isBehind(state, lane, cameBack) && slotTime(state, limits, lane, LEFT_TO_LINE, now).at > now;
}

/** Whether jobs stand in line that go before one of the lane. */
function isBehind({ lines }: BudgetState, lane: Lane, cameBack = false): boolean {
  const before = lanes.slice(0, lanes.indexOf(lane) + (cameBack ? 0 : 1));
  return Object.values(lines).some(({ joinedAt }) => before.some((one) => joinedAt[one] > 0));
}

function planOf(state: BudgetState, limits: Limits, now: number): LinePlan {
  // A call under way is booked for the longest flight, and most are much shorter.
  const expected = now + USUAL_FLIGHT_MS + CLOCKS_DIFFER_MS + MINUTE;
  const booked = bookedBy(now) + MINUTE;
  return {
    pausedUntil: state.pausedUntil,
    slotTime(lane, ahead) {
      const { at, by } = slotTime(state, limits, lane, ahead, now);
      const isUnderWay = by === 'minute' && at > expected && at <= booked;
      const opensAt = Math.ceil(Math.max(now, isUnderWay ? expected : at, state.pausedUntil));
      return opensAt <= now + CALLED_AHEAD_MS ? opensAt : undefined;
    },
  };
}

function inWords(obstacle: Obstacle, { perMinute, perDay }: Limits, rank: Rank): string {
  // The other lanes leave a part to people.
  const usedUp = (calls: string) =>
    rank === 'interactive' || rank === 'urgent'
      ? `${calls} are used up`
      : `the share of the lane ${rank} in ${calls} is used up`;
  switch (obstacle) {
    case 'minute':
      return usedUp(`the minute's ${perMinute} calls`);
    case 'day':
      return usedUp(`the day's ${perDay} calls`);
    case 'pause':
      return 'the connection is paused';
    case 'line':
      return 'other jobs are ahead of it';
  }
}
