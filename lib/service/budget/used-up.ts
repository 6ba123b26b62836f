import { callsIn, DAY, type Window } from './window.ts';

/** The pace is measured over at least this time. */
const PACE_OVER_MS = 60 * 60_000;

/**
 * Estimates when the limit of the day is used up if the relay continues as in the last hour. The day is a sliding
 * window, so the calls of a day ago stop counting while new calls come.
 *
 * @param limit calls in a day
 * @param now epoch milliseconds
 * @returns epoch milliseconds, not before `now`; undefined if the limit is not reached at this pace
 */
export function usedUpAt(day: Window, limit: number, now: number): number | undefined {
  const { bucketMs, lengthMs, first, calls } = day;
  const used = callsIn(day);
  if (used >= limit) return now;
  const perMs = pace(day, now);
  if (perMs === 0) return undefined;
  let left = 0;
  // Between two buckets that leave the window, the count grows evenly.
  const leaving = calls.map((some, index) => ({ some, at: (first + index + 1) * bucketMs + lengthMs }));
  for (const { some, at } of [...leaving, { some: 0, at: now + DAY }]) {
    const reachedAt = now + (limit - used + left) / perMs;
    if (reachedAt <= Math.min(at, now + DAY)) return Math.ceil(reachedAt);
    left += some;
  }
  return undefined;
}

/** Returns the calls per millisecond, over the whole buckets of the last hour and the current one. */
function pace({ bucketMs, first, calls }: Window, now: number): number {
  const from = Math.floor((now - PACE_OVER_MS) / bucketMs);
  const recent = calls.slice(Math.max(0, from - first)).reduce((sum, some) => sum + some, 0);
  return recent / (now - from * bucketMs);
}
