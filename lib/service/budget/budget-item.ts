import type { Item } from '../../state/table/table.ts';
import { type AssumedLimit, assumedLimit } from './assumed-limit.ts';
import { type Lane, lanes } from './lanes.ts';
import type { Windows } from './slot-time.ts';
import { DAY, emptyDay, emptyMinute, emptyTenMinutes, emptyWeek, MINUTE, packWindow, unpackWindow } from './window.ts';

/** The state of a budget. Times are epoch milliseconds, 0 for never. */
export interface BudgetState extends Windows {
  pausedUntil: number;
  /** The waiting lines of each connection that uses the budget. */
  lines: Record<string, Lines>;
  assumed?: AssumedLimit | undefined;
}

/** The waiting lines of a connection. */
export interface Lines {
  /** When a run last put its job into the line of each lane; 0 for an empty line. */
  joinedAt: Record<Lane, number>;
  /** The lines are not moved on before this time. A job called from them is awake then or later, and moves them on. */
  movesAt: number;
}

/** While a called job is on its way, the lines still move on this often. */
export const MOVE_EVERY_MS = 15_000;

/** The longest pause of a connection. */
export const LONGEST_PAUSE_MS = DAY;
/** More than any difference between clocks. */
const AHEAD_MS = 2_000;
/** More than the time by which slots are promised ahead, so no command is busy for longer. */
const BUSY_AHEAD_MS = 10_000;
/** More connections than any key has. */
const MOST_CONNECTIONS = 20;

/**
 * Reads a budget. Accepts any item. Impossible values are dropped and named in `faults`. If calls of the minute may be
 * missing, the budget is paused for a minute, until they no longer count.
 */
export function readState(item: Item | undefined, now: number): { state: BudgetState; faults: string[] } {
  const faults: string[] = [];
  const fault = (attribute: string) => void faults.push(attribute);

  function windowOf(attribute: string, empty: BudgetState['minute']) {
    const { window, isWhole } = unpackWindow(empty, item?.[attribute], now);
    if (!isWhole) fault(attribute);
    return window;
  }

  function time(attribute: string, value: unknown, latest: number, instead: number): number {
    if (value === undefined || (isTime(value) && value <= latest)) return value ?? 0;
    fault(attribute);
    return instead;
  }

  const minute = windowOf('minuteCalls', emptyMinute());
  const pausedUntil = time('pausedUntil', item?.pausedUntil, now + LONGEST_PAUSE_MS, now + MINUTE);
  const lines: BudgetState['lines'] = {};
  if (item?.lines !== undefined && !isMap(item.lines)) fault('lines');
  for (const [name, kept] of Object.entries(isMap(item?.lines) ? item.lines : {}).slice(0, MOST_CONNECTIONS)) {
    const [movesAt, ...joined] = Array.isArray(kept) ? kept : [undefined];
    const joinedAt = lanes.map((lane, index) => [lane, time('lines', joined[index], now + AHEAD_MS, now)] as const);
    lines[name] = {
      joinedAt: Object.fromEntries(joinedAt) as Record<Lane, number>,
      movesAt: time('lines', movesAt, now + MOVE_EVERY_MS + AHEAD_MS, 0),
    };
  }
  const assumed = assumedLimit.safeParse(item?.assumed).data;
  const isAssumed = assumed !== undefined && assumed.at <= now + AHEAD_MS;
  if (item?.assumed !== undefined && !isAssumed) fault('assumed');
  return {
    state: {
      minute,
      day: windowOf('dayCalls', emptyDay()),
      events: windowOf('eventCalls', emptyWeek()),
      people: windowOf('peopleCalls', emptyTenMinutes()),
      busyUntil: time('busyUntil', item?.busyUntil, now + BUSY_AHEAD_MS, 0),
      pausedUntil: faults.includes('minuteCalls') ? Math.max(pausedUntil, now + MINUTE) : pausedUntil,
      lines,
      ...(isAssumed && { assumed }),
    },
    faults: [...new Set(faults)],
  };
}

export function stateItem(state: BudgetState): Item {
  const { minute, day, events, people, busyUntil, pausedUntil, lines, assumed } = state;
  return {
    minuteCalls: packWindow(minute),
    dayCalls: packWindow(day),
    eventCalls: packWindow(events),
    peopleCalls: packWindow(people),
    busyUntil,
    pausedUntil,
    lines: Object.fromEntries(
      Object.entries(lines).map(([name, { movesAt, joinedAt }]) => [
        name,
        [movesAt, ...lanes.map((lane) => joinedAt[lane])],
      ]),
    ),
    assumed,
  };
}

/** Returns the lines of a connection. A connection without lines so far gets empty ones. */
export function linesOf(state: BudgetState, connection: string): Lines {
  const known = Object.hasOwn(state.lines, connection) ? state.lines[connection] : undefined;
  const lines = known ?? { joinedAt: { interactive: 0, further: 0, background: 0, backfill: 0 }, movesAt: 0 };
  state.lines[connection] = lines;
  return lines;
}

const isTime = (value: unknown): value is number => typeof value === 'number' && value >= 0 && Number.isFinite(value);

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
