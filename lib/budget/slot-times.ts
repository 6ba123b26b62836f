import type { Lane, Limits } from './budget.ts';

export const MINUTE = 60_000;
export const DAY = 24 * 60 * MINUTE;

/**
 * When a window has room again: callers are counted from 0, and whoever has at least `from` before it has to wait until
 * `at`. Both grow from one opening to the next; for callers before the first there is room now.
 */
export interface Opening {
  from: number;
  at: number;
}

/**
 * What a lane leaves to those before whom it must not come. After any call of the lane, `atOnce` more calls can be sent
 * within `withinMs`, and one more for each `everyMs` after that, `total` in all.
 */
interface Reserve {
  atOnce: number;
  withinMs: number;
  everyMs: number;
  total: number;
}

/** Resends and searches are nobody's inferiors; `interactive` leaves room to them, and `background` to both. */
export type Rank = 'first' | Lane;

/** The part of both limits that `background` leaves to people, should they want it. */
const PEOPLES_SHARE = 0.1;
/** Of the minute, so many calls for people can be sent … */
const PEOPLE_AT_ONCE = 2;
/** … before so long, however great the backlog. A longer time would use the minute better, and let people wait. */
const PEOPLE_WITHIN_MS = 1_000;
/** Of the day, this part stays unused to the last if people do not want it: they cannot wait for tomorrow. */
const PEOPLE_AT_ONCE_OF_DAY = 0.005;
/** The part of the day that even people leave to resends and searches, which cannot wait either. */
const FIRST_OF_DAY = 0.002;

const nothing: Reserve = { atOnce: 0, withinMs: 0, everyMs: 0, total: 0 };

function reserveOfMinute(rank: Rank, limit: number): Reserve {
  if (rank === 'first') return nothing;
  if (rank === 'interactive') {
    const total = limit >= 20 ? 1 : 0;
    return { atOnce: total, withinMs: PEOPLE_WITHIN_MS, everyMs: 0, total };
  }
  const share = limit * PEOPLES_SHARE;
  const atOnce = Math.min(PEOPLE_AT_ONCE, Math.ceil(limit / 20), limit - 1);
  const total = Math.min(atOnce + Math.floor(share), limit - 1);
  return { atOnce, withinMs: PEOPLE_WITHIN_MS, everyMs: MINUTE / share, total };
}

function reserveOfDay(rank: Rank, limit: number): Reserve {
  if (rank === 'first') return nothing;
  const first = Math.floor(limit * FIRST_OF_DAY);
  if (rank === 'interactive') return { atOnce: first, withinMs: 0, everyMs: 0, total: first };
  const share = limit * PEOPLES_SHARE;
  const atOnce = first + Math.floor(limit * PEOPLE_AT_ONCE_OF_DAY);
  return { atOnce, withinMs: 0, everyMs: DAY / share, total: Math.min(atOnce + Math.floor(share), limit - 1) };
}

/** The windows of a connection as they stand. */
export interface Windows {
  minute: readonly Opening[];
  day: readonly Opening[];
}

/**
 * When a caller of that rank that has so many before it may send, so far as is known: negative infinity for at once.
 * What lies beyond the minute's known slots is not known, and then only the day speaks.
 */
export function slotTime(
  windows: Windows,
  limits: Limits,
  rank: Rank,
  before: number,
): { at: number; by: 'minute' | 'day' } {
  const reserve = reserveOfMinute(rank, limits.perMinute);
  const minute =
    before + reserve.total < limits.perMinute ? openedAt(windows.minute, reserve, before) : Number.NEGATIVE_INFINITY;
  const day = openedAt(windows.day, reserveOfDay(rank, limits.perDay), before);
  return day > minute ? { at: day, by: 'day' } : { at: minute, by: 'minute' };
}

/** How many callers of that rank could send one after the other now, in each window. */
export function slotsNow(windows: Windows, limits: Limits, rank: Rank, now: number): { minute: number; day: number } {
  const count = (openings: readonly Opening[], reserve: Reserve, limit: number) => {
    let [some, most] = [0, limit - reserve.total];
    while (some < most) {
      const middle = Math.floor((some + most) / 2);
      if (openedAt(openings, reserve, middle) <= now) some = middle + 1;
      else most = middle;
    }
    return some;
  };
  return {
    minute: count(windows.minute, reserveOfMinute(rank, limits.perMinute), limits.perMinute),
    day: count(windows.day, reserveOfDay(rank, limits.perDay), limits.perDay),
  };
}

function openedAt(openings: readonly Opening[], reserve: Reserve, before: number): number {
  let at = Number.NEGATIVE_INFINITY;
  for (const opening of openings) {
    // The place of the first caller behind ours that has to wait for this opening.
    const behind = Math.max(0, opening.from - before);
    if (behind > reserve.total) break;
    const late = behind === 0 ? 0 : reserve.withinMs + Math.max(0, behind - reserve.atOnce) * reserve.everyMs;
    at = Math.max(at, opening.at - late);
  }
  return at;
}
