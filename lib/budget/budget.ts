import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import {
  addToDay,
  addToMinute,
  type BudgetState,
  dayOpenings,
  minuteOpenings,
  readState,
  removeFromDay,
  removeSlot,
  slotsOfDay,
  stateItem,
} from './budget-item.ts';
import { MINUTE, type Rank, slotsNow, slotTime, turnOfDay, type Windows } from './slot-times.ts';

/** A share of the budget: `interactive` where a person is waiting, `background` for everything else. */
export type Lane = 'interactive' | 'background';

/** What a connection's key may send (interface document, Limits). */
export interface Limits {
  perMinute: number;
  perDay: number;
}

export interface SlotRequest {
  connection: string;
  limits: Limits;
  lane: Lane;
  /** Resends and searches for what may have been created go ahead of everything else. */
  first?: boolean;
  /** Whether the caller comes because an earlier answer said when: then it is ahead of those who come anew. */
  cameBack?: boolean;
  /** Until when the caller can wait in place for its slot; epoch milliseconds. */
  waitsUntil?: number;
}

/** The right to send one call. */
export interface Slot {
  /** Not before; epoch milliseconds of this process's clock. */
  sendAt: number;
  /** Not after. */
  goodUntil: number;
  /**
   * Whether to send now. Whoever is too late, or finds the connection paused since the slot was granted, gives it up
   * and asks again.
   * @throws {BudgetUnavailable}
   */
  isGood(): Promise<boolean>;
  /** The call's answer is here, so that the service counted it by now. Without this it counts as if it took longest. */
  answered(): void;
  /** Nothing was sent and nothing will be. */
  giveUp(): void;
}

/** What stands between a caller and its slot. */
export type Obstacle = 'minute' | 'day' | 'pause' | 'others';

/** A slot, at once or in a moment; or when to come back, what is in the way, and the same in words. */
export type SlotAnswer =
  | { granted: true; slot: Slot }
  | { granted: false; comeBackAt: number; obstacle: Obstacle; why: string };

/** What a lane can send. */
export interface LaneView {
  /** How many calls at once, for all that the minute and the day have left to the lane. */
  left: { minute: number; day: number };
  /** When the next slot is free, or now. */
  nextSlotAt: number;
  /** How many have been told when to come back, and when the last of them does. */
  waiting: number;
  waitingUntil: number | null;
}

/** What a connection has left, for people. */
export interface BudgetView {
  /** Slots that count now, for the calls of the last minute and for those about to be sent. */
  minute: { used: number; limit: number };
  day: { used: number; limit: number };
  pausedUntil: number | null;
  lanes: Record<Lane, LaneView>;
}

/**
 * The shared rate budget of every connection.
 *
 * @throws {BudgetUnavailable} from each of them
 */
export interface Budget {
  requestSlot(request: SlotRequest): Promise<SlotAnswer>;
  /** Stops everyone on that connection until then: the service said so, by a 429 or otherwise. */
  pause(connection: string, until: number): Promise<void>;
  /** Lifts a pause. */
  resume(connection: string): Promise<void>;
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

/** Two workers' clocks differ by no more than this: each is wrong by up to half of it. */
export const CLOCKS_DIFFER_MS = 1_000;
/** From the first byte sent to when the caller gives up on an answer: lib/partner/client.ts. */
export const LONGEST_FLIGHT_MS = 10_000;
/** A slot not used so long after its time is given up. */
const GRACE_MS = 1_000;
/** How far ahead a slot is promised: one promised to the background cannot be given to a person any more. */
const PROMISED_AHEAD_MS: Readonly<Record<Rank, number>> = { first: 5_000, interactive: 5_000, background: 700 };
/** What a usual call takes; it only spaces those who are to come back. */
const USUAL_FLIGHT_MS = 1_000;
/** Who comes back and finds nothing comes among the others then, but at this part of their pace. */
const AGAIN_PACE = 0.5;
/** A slot free for so long is proof that nobody is coming back. */
const NOBODY_COMES_MS = MINUTE;
/** A process asks for times to come back at for itself, so that a long backlog does not mean a write for each job. */
const MOST_TIMES_AHEAD = 16;
const TIMES_GO_FAST_MS = 30_000;
/** Where writes come second, others ask as well: a process then takes this many times at least. */
const TIMES_IF_CONTENDED = 8;
const CONTENDED_TRIES = 30;
const FIRST_PAUSE_MS = 15;
/** The background makes room in time, as in everything. */
const LONGEST_PAUSE_MS: Readonly<Record<Rank, number>> = { first: 120, interactive: 240, background: 1_000 };

/** What a process keeps for itself about a connection. It is lost with the process without harm. */
interface Own {
  /** Slots whose calls have ended: when they were to stop counting, and when they do; never is for those not used. */
  ended: { from: number; to: number | 'never'; countedBy: number }[];
  lines: Record<Lane, { times: number[]; lastSize: number; lastAt: number }>;
}

/**
 * A budget that is exact for a sliding minute and a sliding day, and so for every way in which the service may count;
 * see docs/decisions/0008-exact-budget.md.
 *
 * @param sleep waits before a write is tried again that came second
 */
export function createBudget(
  table: Table,
  clock: () => number,
  random: () => number = Math.random,
  sleep: (ms: number) => Promise<unknown> = (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
): Budget {
  const owns = new Map<string, Own>();

  function ownOf(connection: string): Own {
    const known = owns.get(connection);
    if (known) return known;
    const none = () => ({ times: [], lastSize: 0, lastAt: Number.NEGATIVE_INFINITY });
    const own = { ended: [], lines: { interactive: none(), background: none() } };
    owns.set(connection, own);
    return own;
  }

  async function orUnavailable<T>(connection: string, act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      throw new BudgetUnavailable(connection, error);
    }
  }

  /** Reads, lets `decide` change what was read, and writes it unless somebody else was faster: then once more. */
  async function change<T>(
    connection: string,
    rank: Rank,
    decide: (state: BudgetState, now: number, tries: number) => { answer: T; afterwards?: () => void },
  ): Promise<T> {
    const own = ownOf(connection);
    for (let tries = 0; tries < CONTENDED_TRIES; tries++) {
      if (tries > 0) await sleep(random() * Math.min(LONGEST_PAUSE_MS[rank], FIRST_PAUSE_MS * 2 ** tries));
      const state = readState(await table.get(keys.budget(connection)), clock());
      const { version } = state;
      // What has ended rides on whatever is written next, so that it costs nothing.
      const riding = [...own.ended];
      for (const end of riding) settle(state, end);
      const { answer, afterwards } = decide(state, clock(), tries);
      state.version = version + 1;
      const written = await table.put(
        { ...keys.budget(connection), ...stateItem(state) },
        { expression: 'attribute_not_exists(#pk) OR #version = :version', values: { version } },
      );
      if (!written) continue;
      own.ended = own.ended.filter((end) => !riding.includes(end));
      afterwards?.();
      return answer;
    }
    throw new Error(`${CONTENDED_TRIES} writes in a row came second`);
  }

  return {
    async requestSlot(request) {
      const { connection, lane } = request;
      const own = ownOf(connection);
      const rank: Rank = request.first ? 'first' : lane;
      const isNew = !request.cameBack && rank !== 'first';
      // Whoever has times to come back at left over knows that others wait: nobody need be asked.
      const kept = isNew ? nextTime(own.lines[lane].times, clock()) : undefined;
      if (kept !== undefined) return comeBack(kept, 'others', request.limits);
      return orUnavailable(connection, () =>
        change<SlotAnswer>(connection, rank, (state, now, tries) => {
          const next = nextSlot(state, request.limits, rank, now);
          const line = state.lines[lane];
          if (isNew && next.at < now - NOBODY_COMES_MS && state.slots.length === 0) line.until = now;
          const latest =
            state.pausedUntil > now
              ? now
              : Math.min(now + PROMISED_AHEAD_MS[rank], request.waitsUntil ?? Number.POSITIVE_INFINITY);
          const isOthersTurn = isNew && line.until > now + PROMISED_AHEAD_MS[rank];
          if (next.at <= latest && !isOthersTurn) {
            if (request.cameBack) line.length = Math.max(0, line.length - 1);
            return { answer: { granted: true, slot: promise(state, own, connection, now, next.at) } };
          }
          const obstacle = next.at <= latest ? 'others' : next.by;
          if (!isNew) {
            return { answer: comeBack(comeAgain(state, request.limits, rank, lane, now), obstacle, request.limits) };
          }
          const atLeast = tries > 1 ? TIMES_IF_CONTENDED : 1;
          const { at, keep } = standInLine(state, own, request.limits, lane, now, atLeast);
          return { answer: comeBack(at, obstacle, request.limits), afterwards: keep };
        }),
      );
    },
    async pause(connection, until) {
      await orUnavailable(connection, () =>
        change(connection, 'first', (state) => {
          state.pausedUntil = Math.max(state.pausedUntil, Math.ceil(until));
          return { answer: undefined };
        }),
      );
    },
    async resume(connection) {
      await orUnavailable(connection, () =>
        change(connection, 'first', (state) => {
          state.pausedUntil = 0;
          return { answer: undefined };
        }),
      );
    },
    async view(connection, limits) {
      const now = clock();
      const state = await orUnavailable(connection, async () =>
        readState(await table.get(keys.budget(connection)), now),
      );
      const { slots, pausedUntil, lines } = state;
      const lane = (lane: Lane): LaneView => ({
        left: slotsNow(windowsOf(state, limits), limits, lane, now),
        nextSlotAt: Math.max(now, Math.ceil(nextSlot(state, limits, lane, now).at)),
        waiting: lines[lane].length,
        waitingUntil: lines[lane].until > now ? lines[lane].until : null,
      });
      return {
        minute: { used: Math.min(slots.length, limits.perMinute), limit: limits.perMinute },
        day: { used: slotsOfDay(state), limit: limits.perDay },
        pausedUntil: pausedUntil > now ? pausedUntil : null,
        lanes: { interactive: lane('interactive'), background: lane('background') },
      };
    },
  };

  /** Books a slot, as long as its call can count at most. */
  function promise(state: BudgetState, own: Own, connection: string, now: number, at: number): Slot {
    const sendAt = Math.max(now, Math.ceil(at));
    const goodUntil = sendAt + GRACE_MS;
    const countedBy = goodUntil + LONGEST_FLIGHT_MS + CLOCKS_DIFFER_MS;
    const from = addToMinute(state, countedBy + MINUTE);
    addToDay(state, countedBy);
    return {
      sendAt,
      goodUntil,
      async isGood() {
        if (clock() > goodUntil) return false;
        // Whoever did not have to wait knows that there is no pause.
        if (sendAt === now) return true;
        const item = await orUnavailable(connection, () => table.get(keys.budget(connection)));
        return readState(item, clock()).pausedUntil <= clock() && clock() <= goodUntil;
      },
      answered: () => void own.ended.push({ from, to: clock() + CLOCKS_DIFFER_MS + MINUTE, countedBy }),
      giveUp: () => void own.ended.push({ from, to: 'never', countedBy }),
    };
  }
}

/** What is in the way of a caller of that rank that has so many others before it, and until when. */
function nextSlot(
  state: BudgetState,
  limits: Limits,
  rank: Rank,
  now: number,
  before = 0,
): { at: number; by: Obstacle } {
  const slot: { at: number; by: Obstacle } = slotTime(windowsOf(state, limits), limits, rank, before);
  const { interactive } = state.lines;
  const people = Math.max(interactive.until, interactive.againUntil);
  if (rank === 'background' && people > now && people > slot.at) return { at: people, by: 'others' };
  return state.pausedUntil > slot.at ? { at: state.pausedUntil, by: 'pause' } : slot;
}

function windowsOf(state: BudgetState, limits: Limits): Windows {
  return { minute: minuteOpenings(state, limits.perMinute), day: dayOpenings(state, limits.perDay) };
}

/** So far apart do those come back who are told when: as often as a slot becomes free in a minute that is used up. */
function paceMs({ perMinute }: Limits): number {
  return (MINUTE + CLOCKS_DIFFER_MS + USUAL_FLIGHT_MS) / perMinute;
}

/** Takes times at the end of the line for this process, and gives the first of them to the caller. */
function standInLine(
  state: BudgetState,
  own: Own,
  limits: Limits,
  lane: Lane,
  now: number,
  atLeast: number,
): { at: number; keep: () => void } {
  const mine = own.lines[lane];
  const line = state.lines[lane];
  const isFast = now - mine.lastAt < TIMES_GO_FAST_MS;
  const size = Math.max(atLeast, isFast ? Math.min(MOST_TIMES_AHEAD, mine.lastSize * 2) : 1);
  const times: number[] = [];
  for (let taken = 0; taken < size; taken++) {
    const free = nextSlot(state, limits, lane, now, line.length).at;
    const soonest = Math.max(now, free, state.pausedUntil + PROMISED_AHEAD_MS[lane]);
    line.until = Math.ceil(Math.max(soonest, line.until + paceMs(limits)));
    line.length += 1;
    times.push(Math.max(now + 1, line.until - PROMISED_AHEAD_MS[lane]));
  }
  const [at = now, ...rest] = times;
  return { at, keep: () => Object.assign(mine, { times: rest, lastSize: size, lastAt: now }) };
}

/** A time for someone who came back in time and found no slot: soon, and not among all others. */
function comeAgain(state: BudgetState, limits: Limits, rank: Rank, lane: Lane, now: number): number {
  const line = state.lines[lane];
  const free = nextSlot(state, limits, rank, now);
  const soonest = Math.max(free.at, state.pausedUntil + PROMISED_AHEAD_MS[rank]);
  const pace = paceMs(limits) / AGAIN_PACE;
  const at = Math.max(soonest, line.againUntil + pace);
  line.againUntil = Math.ceil(free.by === 'day' ? turnOfDay(windowsOf(state, limits), limits, rank, at, pace) : at);
  return Math.max(now + 1, line.againUntil - PROMISED_AHEAD_MS[rank]);
}

function nextTime(times: number[], now: number): number | undefined {
  for (let time = times.shift(); time !== undefined; time = times.shift()) if (time > now) return time;
  return undefined;
}

function settle(state: BudgetState, { from, to, countedBy }: Own['ended'][number]): void {
  if (!removeSlot(state, from)) return;
  if (to === 'never') removeFromDay(state, countedBy);
  else addToMinute(state, to);
}

function comeBack(comeBackAt: number, obstacle: Obstacle, limits: Limits): SlotAnswer {
  const why: Record<Obstacle, string> = {
    minute: `the minute's ${limits.perMinute} calls are used up`,
    day: `the day's ${limits.perDay} calls are used up`,
    pause: 'the connection is paused',
    others: 'others are to be sent before it',
  };
  return { granted: false, comeBackAt, obstacle, why: why[obstacle] };
}
