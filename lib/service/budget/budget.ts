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
  /** True for resends, and for searches after a lost answer. They go ahead of new work. */
  urgent?: boolean;
  /** True if the job was in the waiting line. It then goes ahead of new jobs. */
  cameBack?: boolean;
  /**
   * True if this run of the job has had a slot before. A person's command in progress goes ahead of others that have
   * not begun.
   */
  hasBegun?: boolean;
  /** Until when the caller can wait in place; epoch milliseconds. Without it, the caller does not wait. */
  waitsUntil?: number;
}

/** The right to send one call. */
export interface Slot {
  /** The earliest time to send; epoch milliseconds by this process's clock. */
  sendAt: number;
  /** The latest time to send. */
  goodUntil: number;
  /**
   * True if the call may be sent now. If false, it is too late or the connection was paused meanwhile: give the slot up
   * and request another.
   * @throws {BudgetUnavailable}
   */
  isGood(): Promise<boolean>;
  /**
   * Call this when the answer is here, because the service has then counted the call.
   * @throws {BudgetUnavailable} if the call left so late that its booking has ended
   */
  answered(): Promise<void>;
  /**
   * Call this if no answer came. The service may still count the call, up to a minute later.
   * @throws {BudgetUnavailable}
   */
  unanswered(): Promise<void>;
  /** Call this if nothing was sent and nothing will be. */
  giveUp(): void;
}

export type Obstacle = 'minute' | 'day' | 'pause' | 'line';

export type SlotAnswer = (
  | { granted: true; slot: Slot }
  | {
      granted: false;
      obstacle: Obstacle;
      why: string;
      /** When to ask again. Missing if the caller cannot wait that long. Its job then joins the waiting line. */
      askAgainAt?: number;
      /** When a slot will be free, as far as known; for people. Epoch milliseconds. */
      expectedAt?: number | undefined;
    }
) & {
  /** True if the caller should move the waiting lines on when it has time: see {@link Budget.planLine}. */
  lineIsDue: boolean;
};

/** The times at which the jobs in line get their slots, as far as the budget knows them. */
export interface LinePlan {
  /** Epoch milliseconds; 0 without a pause. */
  pausedUntil: number;
  /**
   * Returns when a job of the lane may send, with `ahead` others ahead of it. Undefined if that is unknown, or too far
   * away to call the job now ({@link CALLED_AHEAD_MS}).
   */
  slotTime(lane: Lane, ahead: number): number | undefined;
}

/** Calls from a time that the table has no record of. */
export interface LostCalls {
  /** Epoch milliseconds. */
  from: number;
  /** Epoch milliseconds. */
  to: number;
  /** The number of calls that the service shows; by default, all that the limits allow in that time. */
  calls?: number | undefined;
  /** How many calls of the day stay free in any case. */
  left: number;
}

/** The calls that a lane can send. */
export interface LaneView {
  /** How many calls the lane can send at once. */
  left: number;
  /** When the next slot is free, or now. Infinity if that is unknown. */
  nextSlotAt: number;
}

/** The remaining budget of a connection, for people. */
export interface BudgetView {
  /** The slots that count now: calls of the last minute, and calls about to be sent. */
  minute: { used: number; limit: number };
  day: { used: number; limit: number };
  pausedUntil: number | null;
  /**
   * Set if the service seems to allow fewer calls a minute than configured: how many, and since when the relay knows
   * it.
   */
  assumed: { perMinute: number; since: number } | null;
  lanes: Record<Lane, LaneView>;
}

/**
 * The shared rate budget of every connection.
 *
 * @throws {BudgetUnavailable} from each method
 */
export type Budget = ReturnType<typeof createBudget>;

/** The largest difference between the clocks of two workers. Each is off by up to half of it. */
const CLOCKS_DIFFER_MS = 1_000;
/**
 * The longest time from the first byte sent to the caller's time-out: CALL_TIMEOUT_MS in lib/service/partner/client.ts.
 */
const LONGEST_FLIGHT_MS = 10_000;
/**
 * How long a call without an answer may still reach the service, because a gateway may hold it. Most give up after a
 * minute, too.
 */
const UNANSWERED_MS = MINUTE;
const USUAL_FLIGHT_MS = 1_000;
/** A slot is given up if it is not used this long after its time. */
const GRACE_MS = 1_000;
/**
 * How far ahead slots are promised. People get the longer time, because a promised slot cannot go to another caller.
 * While a person's command of several calls is in progress, it goes ahead of commands that have not begun.
 */
const PROMISED_AHEAD_MS = { people: 5_000, others: 700 };
/** The longest time between two calls of a command. After a longer one, the last call was probably the end. */
const NEXT_CALL_MS = 1_500;
/** The jitter of callers that wait in place for the same opening, so that they do not ask at the same moment. */
const SPREAD_MS: Readonly<Record<Rank, number>> = {
  urgent: 300,
  interactive: 100,
  further: 300,
  background: 300,
  backfill: 300,
};
/** How long a caller may take to move the lines on. After that, it has probably crashed. */
const MOVING_MS = 1_000;
/**
 * How many free slots new jobs leave to jobs in line. They take any others, because jobs called from the line may be
 * stuck behind thousands of new messages.
 */
const LEFT_TO_LINE = 5;
/**
 * With this many calls in progress, new background jobs of a connection join its line. The line still gives the
 * connection as many slots as the service allows, and leaves workers to the events of other connections.
 */
const SHARE_OF_WORKERS = 4;
/** How long a process trusts its last reading of the lines. */
const SEEN_MS = 2_000;
/** How far the index of the waiting line may lag behind, plus the difference between clocks. */
export const INDEX_LAG_MS = 2_000;
/** How far ahead of its slot a job is called. Later slots are not known yet. */
export const CALLED_AHEAD_MS = 2 * MINUTE;
/** The pause after a 429 without a Retry-After that did not lower the assumed limit. */
const PAUSE_MS = MINUTE;
/**
 * The pause after a 429 that lowered the assumed limit. It only lets calls in progress end, because slots then open
 * only as earlier calls stop counting.
 */
const PAUSE_AFTER_LEARNING_MS = 5_000;

/** By default, the clock is the table's, and no key is known. */
export type BudgetOptions = Pick<BudgetStoreOptions, 'table'> &
  Partial<BudgetStoreOptions> & {
    /** True if other connections need the workers, too. */
    sharesWorkers?: boolean;
  };

/**
 * A budget that is exact for a sliding minute and a sliding day, and therefore for every way in which the service may
 * count: docs/decisions/0008-exact-budget.md. The state is one item for each key; every change is one conditional
 * write.
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

  /** @param id of the budget from which the slot was taken, because the connection may have another key by now */
  function slotOf(connection: string, id: string, lane: Lane, sendAt: number, isPromised: boolean): Slot {
    const goodUntil = sendAt + GRACE_MS;

    /** Notes by when the service has counted the call. A time after the end of the booking is written immediately. */
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
        // During a pause, no slot is promised, because the pause may be lifted or extended.
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
     * Decides whether a new job of the lane joins the line before it runs. It does so if other jobs are ahead of it, or
     * if its connection has its share of calls in progress. If other connections need the workers, it joins the line
     * even if slots are free, because the line uses these as fast as the limit allows. It never joins because of a
     * pause or the next day, because it may need no slot. Uses the state that this process has seen in the last
     * seconds.
     * @returns undefined if the job runs; otherwise whether a called job is on its way that will find the new job (if
     * not, the caller moves the line on)
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
    /** Writes how the last calls of this process ended, so that their slots open as early as possible. */
    flush: store.flush,
    /**
     * Handles a 429: pauses every job of the connection, and learns which limit the service seems to have.
     * @param forMs the pause that the service asked for, if it did
     * @returns the end of the pause; a pause never gets shorter, except by `resume`
     */
    async pause(connection: string, limits: Limits, forMs?: number): Promise<number> {
      let learned: AssumedLimit | undefined;
      const until = await store.change(connection, 'urgent', (state, now) => {
        // Calls that were in progress when the pause began show nothing new.
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
    /** Ends a pause, and forgets the assumed limit. */
    async resume(connection: string): Promise<void> {
      await store.change(connection, 'urgent', (state) => {
        const changed = state.pausedUntil > 0 || state.assumed !== undefined;
        state.pausedUntil = 0;
        state.assumed = undefined;
        return { answer: undefined, changed };
      });
    },
    /**
     * Counts as many calls as the key can have made in a time that the table has no record of, and all calls of the
     * last minute. Repeating this changes nothing.
     * @returns the resulting number of calls of the day
     */
    async assumeUsed(connection: string, limits: Limits, lost: LostCalls): Promise<number> {
      return store.change(connection, 'urgent', (state, now) => {
        const { minute, day } = state;
        // Limited to now, because calls in the future would not count. The operator's clock may be ahead.
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
    /** Returns the id of the connection's budget. Connections with the same key share one. */
    idOf: store.idOf,
    /**
     * Gives one caller the right to move the waiting lines of a connection on, unless a called job that will do so is
     * on its way.
     * @param how `atOnce` gives the right in any case; `joined` is the lane whose line the caller's job has just
     * joined, which the index may not show yet
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
          // An empty line, or a line without a free slot, needs no mover: the sweep checks it every minute.
          const moves = lanes.some((lane) => lines.joinedAt[lane] > 0 && plan.slotTime(lane, 0) !== undefined);
          if (moves) lines.movesAt = now + MOVING_MS;
          return { answer: plan, changed: moves || isFirst };
        }
        if (!joined || lines.movesAt >= now + INDEX_LAG_MS) return { answer: undefined, changed: false };
        // The job on its way may not find the new job in the index. It then looks again.
        lines.joinedAt[joined] = now;
        return { answer: undefined, changed: true };
      });
    },
    /**
     * Notes the state in which the caller leaves the lines.
     * @param standing the lanes with waiting jobs; new jobs go behind them
     * @param lookedAt when the caller began to read the index
     * @param comesAt when the last job called from the lines is awake; undefined if there is none
     * @returns when to move the lines on again, if no job is on its way and the index may not have shown a new job yet
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
    /**
     * Estimates when that number of calls will have been sent, from the budget and the last week; epoch milliseconds.
     */
    async foresee(connection: string, limits: Limits, foreseen: Foreseen): Promise<number> {
      const state = await store.read(connection);
      return foresee(state, limitsNow(state, limits, clock()), foreseen, clock());
    },
    /**
     * Estimates when a job of the lane gets its slot from the line, with `ahead` jobs ahead of it; epoch milliseconds.
     */
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
    /** Returns the calls that count now, by buckets of time. Calls that are about to be sent are in future buckets. */
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
 * Returns when the service has counted the call of a slot at the latest. The budget counts the call from the booking
 * until a minute after this time, so no minute of the service has more calls than a minute of the budget.
 */
const bookedBy = (sendAt: number) => sendAt + GRACE_MS + LONGEST_FLIGHT_MS + CLOCKS_DIFFER_MS;

/**
 * Returns the number of calls with a slot and without an answer yet. A call that got no answer counts for a minute
 * more, and is not among them.
 */
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

/** Counts the call in each window that has not passed it yet. */
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
  // Finds the first caller that has to wait by bisection, because a caller with more others ahead never sends earlier.
  let [slots, tooMany] = [0, limits.perMinute];
  while (slots < tooMany) {
    const middle = Math.floor((slots + tooMany) / 2);
    if (slotTime(state, limits, lane, middle, now).at <= now) slots = middle + 1;
    else tooMany = middle;
  }
  return slots;
}

/**
 * True if a job has to wait behind the line. New jobs wait behind jobs of their lane and of the lanes before it, unless
 * more slots are free than the line can use now. A person's first command takes any free slot, so that it does not wait
 * for a line that has just ended. A job called from the line takes its slot, except for backfills, which let newer
 * events go first.
 */
function mustStandBehind(state: BudgetState, limits: Limits, lane: Lane, now: number, cameBack = false): boolean {
  if (lane === 'interactive' || (cameBack && lane !== 'backfill')) return false;
  return isBehind(state, lane, cameBack) && slotTime(state, limits, lane, LEFT_TO_LINE, now).at > now;
}

/** True if the lines have jobs that go before a job of the lane. */
function isBehind({ lines }: BudgetState, lane: Lane, cameBack = false): boolean {
  const before = lanes.slice(0, lanes.indexOf(lane) + (cameBack ? 0 : 1));
  return Object.values(lines).some(({ joinedAt }) => before.some((one) => joinedAt[one] > 0));
}

function planOf(state: BudgetState, limits: Limits, now: number): LinePlan {
  // A call in progress is booked for the longest flight, although most are much shorter.
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
  // The other lanes leave a part of the calls to people.
  const usedUp = (calls: string) =>
    rank === 'interactive' || rank === 'urgent'
      ? `${calls} are used up`
      : `${rank} calls have used up their share of ${calls}`;
  switch (obstacle) {
    case 'minute':
      return usedUp(`the minute's ${perMinute} calls`);
    case 'day':
      return usedUp(`the day's ${perDay} calls`);
    case 'pause':
      return 'the connection is paused';
    case 'line':
      return 'other jobs wait for calls ahead of it';
  }
}
