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

/** Resends and searches go before everything; `interactive` leaves room to them, and `background` to both. */
export type Rank = 'first' | Lane;

/**
 * What a lane leaves to those before whom it must not come. After any call of the lane, `atOnce` more calls can be sent,
 * each within `withinMs` of the one before, and then one more for each `everyMs`: `total` in all.
 *
 * As slots become free all the time, leaving room costs next to nothing while the minute's slots are spread. After a
 * burst none becomes free for a minute, and the same rule keeps so many free for people as they may want until then.
 */
interface Reserve {
  atOnce: number;
  withinMs: number;
  everyMs: number;
  total: number;
}

/** The part of each limit that `background` leaves to people, should they want it. */
const PEOPLES_SHARE = { minute: 0.125, day: 0.1 };
/** Of the minute, so many calls can be sent for people as fast as slots become free, however great the backlog. */
const PEOPLE_AT_ONCE = 5;
/** Of the day, this part stays unused to the last if people do not want it: they cannot wait for tomorrow. */
const PEOPLE_AT_ONCE_OF_DAY = 0.005;
/** The part of the day that even people leave to resends and searches, which cannot wait either. */
const FIRST_OF_DAY = 0.002;

const nothing: Reserve = { atOnce: 0, withinMs: 0, everyMs: 0, total: 0 };

function reserveOfMinute(rank: Rank, limit: number): Reserve {
  if (rank === 'first') return nothing;
  const withinMs = MINUTE / limit;
  if (rank === 'interactive') {
    const total = limit >= 20 ? 1 : 0;
    return { atOnce: total, withinMs, everyMs: 0, total };
  }
  const share = limit * PEOPLES_SHARE.minute;
  const atOnce = Math.min(PEOPLE_AT_ONCE, Math.ceil(limit / 20), limit - 1);
  const total = Math.min(atOnce + Math.floor(share), limit - 1);
  return { atOnce, withinMs, everyMs: MINUTE / share, total };
}

function reserveOfDay(rank: Rank, limit: number): Reserve {
  if (rank === 'first') return nothing;
  const first = Math.floor(limit * FIRST_OF_DAY);
  if (rank === 'interactive') return { atOnce: first, withinMs: 0, everyMs: 0, total: first };
  const share = limit * PEOPLES_SHARE.day;
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
  return {
    minute: openBy(windows.minute, reserveOfMinute(rank, limits.perMinute), limits.perMinute, now),
    day: openBy(windows.day, reserveOfDay(rank, limits.perDay), limits.perDay, now),
  };
}

/**
 * The first time from `from` on at which there is room in the day for one more of those who come `paceMs` apart, if those
 * before it took what became free before. So nobody comes for a slot that others have come for.
 */
export function turnOfDay(windows: Windows, limits: Limits, rank: Rank, from: number, paceMs: number): number {
  const reserve = reserveOfDay(rank, limits.perDay);
  const open = openBy(windows.day, reserve, limits.perDay, from);
  if (open === 0) return openedAt(windows.day, reserve, 0);
  const last = openedAt(windows.day, reserve, open - 1);
  const together = open - openBy(windows.day, reserve, limits.perDay, last - 1);
  return from - last < together * paceMs ? from : Math.max(from, openedAt(windows.day, reserve, open));
}

/** How many callers have room by then. */
function openBy(openings: readonly Opening[], reserve: Reserve, limit: number, by: number): number {
  let [some, most] = [0, limit - reserve.total];
  while (some < most) {
    const middle = Math.floor((some + most) / 2);
    if (openedAt(openings, reserve, middle) <= by) some = middle + 1;
    else most = middle;
  }
  return some;
}

function openedAt(openings: readonly Opening[], reserve: Reserve, before: number): number {
  let at = Number.NEGATIVE_INFINITY;
  for (const opening of openings) {
    // The place of the first caller behind ours that has to wait for this opening.
    const behind = Math.max(0, opening.from - before);
    if (behind > reserve.total) break;
    const late =
      Math.min(behind, reserve.atOnce) * reserve.withinMs + Math.max(0, behind - reserve.atOnce) * reserve.everyMs;
    at = Math.max(at, opening.at - late);
  }
  return at;
}
