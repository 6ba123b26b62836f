export const MINUTE = 60_000;
export const DAY = 24 * 60 * MINUTE;

/** The calls that a connection's key may send (docs/partner-api.md, Limits). */
export interface Limits {
  perMinute: number;
  perDay: number;
}

/**
 * A sliding window: the calls that the service has counted, by buckets of time. A call counts until `lengthMs` after
 * the end of its bucket.
 */
export interface Window {
  lengthMs: number;
  bucketMs: number;
  /** The number of the first bucket, counted from the epoch. */
  first: number;
  calls: number[];
}

/** The buckets are small enough to lose little of each minute, and large enough to keep the item below 1 KB. */
export const emptyMinute = (): Window => ({ lengthMs: MINUTE, bucketMs: 125, first: 0, calls: [] });
export const emptyDay = (): Window => ({ lengthMs: DAY, bucketMs: 10 * MINUTE, first: 0, calls: [] });
export const emptyWeek = (): Window => ({ lengthMs: 7 * DAY, bucketMs: DAY / 4, first: 0, calls: [] });
export const emptyTenMinutes = (): Window => ({ lengthMs: 10 * MINUTE, bucketMs: MINUTE, first: 0, calls: [] });

/**
 * When a window has room again. Callers are counted from 0: a caller with at least `from` others ahead of it waits
 * until `at`. Both grow from one opening to the next. Callers before the first opening need not wait.
 */
export interface Opening {
  from: number;
  at: number;
}

/** Adds calls that the service has counted by `countedBy` at the latest. */
export function add(window: Window, countedBy: number, calls = 1): void {
  const bucket = Math.floor(countedBy / window.bucketMs);
  if (window.calls.length === 0) window.first = bucket;
  for (; bucket < window.first; window.first--) window.calls.unshift(0);
  while (window.calls.length <= bucket - window.first) window.calls.push(0);
  window.calls[bucket - window.first] = (window.calls[bucket - window.first] ?? 0) + calls;
}

/** Removes a call that {@link add} counted. @returns false if the call has left the window */
export function remove(window: Window, countedBy: number): boolean {
  const index = Math.floor(countedBy / window.bucketMs) - window.first;
  const calls = window.calls[index] ?? 0;
  if (calls > 0) window.calls[index] = calls - 1;
  return calls > 0;
}

export function callsIn({ calls }: Window): number {
  return calls.reduce((sum, some) => sum + some, 0);
}

/** Removes the buckets that have left the window. */
export function trim(window: Window, now: number): void {
  const { lengthMs, bucketMs, first } = window;
  const over = Math.max(0, Math.floor((now - lengthMs) / bucketMs) - first);
  window.first = first + over;
  window.calls = window.calls.slice(over);
}

/** Returns the calls in all buckets from `from` to `to`. */
export function callsBetween({ first, bucketMs, calls }: Window, from: number, to = Number.POSITIVE_INFINITY): number {
  const placeOf = (at: number) => Math.floor(at / bucketMs) - first;
  return calls.slice(Math.max(0, placeOf(from)), Math.max(0, placeOf(to) + 1)).reduce((sum, some) => sum + some, 0);
}

/** Returns the highest number of calls in consecutive buckets of a total length. */
export function mostCallsIn({ bucketMs, calls }: Window, lengthMs: number): number {
  const buckets = lengthMs / bucketMs;
  const spans = calls.map((_, index) => calls.slice(Math.max(0, index + 1 - buckets), index + 1));
  return Math.max(0, ...spans.map((span) => span.reduce((sum, some) => sum + some, 0)));
}

/** Returns when a window with that limit has room again. */
export function openings(window: Window, limit: number): Opening[] {
  const found: Opening[] = [];
  let from = limit - callsIn(window);
  for (const [index, calls] of window.calls.entries()) {
    const at = (window.first + index + 1) * window.bucketMs + window.lengthMs;
    if (calls > 0 && from + calls > 0) found.push({ from, at });
    from += calls;
  }
  return found;
}

/** Loads zlib on first use, because few cold starts need it. */
const zlib = () => process.getBuiltinModule('node:zlib');

/** Smaller than the defaults, which take 300 KB of memory each time, and most of the packing time. */
const PACKING = { windowBits: 10, memLevel: 4, chunkSize: 1_024 };

/**
 * Packs the window into few bytes. Calls without an answer are held for another minute, so most of its thousand buckets
 * are empty.
 */
export const packWindow = ({ first, calls }: Window): Uint8Array =>
  zlib().deflateRawSync(JSON.stringify([first, ...calls]), PACKING);

/** More than the length of a thousand buckets with {@link MOST_IN_BUCKET} calls each. */
const LONGEST_LIST_BYTES = 16_000;

/** Returns the numbers of a packed window; undefined if {@link packWindow} did not make it. */
function unpacked(packed: unknown): number[] | undefined {
  if (!(packed instanceof Uint8Array)) return undefined;
  try {
    const text = zlib().inflateRawSync(packed, { maxOutputLength: LONGEST_LIST_BYTES, chunkSize: 1_024 }).toString();
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) && list.every((number) => Number.isSafeInteger(number) && number >= 0)
      ? list
      : undefined;
  } catch {
    return undefined;
  }
}

/** More calls than any limit allows in the time of a bucket. */
const MOST_IN_BUCKET = 1_000_000;
/** How far ahead slots are booked at most. A call without an answer counts for another minute. */
const BOOKED_AHEAD_MS = MINUTE + 10_000;

/**
 * Fills an empty window with the packed calls that still count. Drops impossible buckets: too far in the future, or
 * with more calls than any limit allows.
 *
 * @param packed what {@link packWindow} made, or anything else
 */
export function unpackWindow(empty: Window, packed: unknown, now: number): { window: Window; isWhole: boolean } {
  const numbers = packed === undefined ? [] : unpacked(packed);
  const window = { ...empty };
  let isWhole = numbers !== undefined;
  const [first = 0, ...calls] = numbers ?? [];
  const oldest = Math.floor((now - window.lengthMs) / window.bucketMs) * window.bucketMs;
  for (const [place, number] of calls.entries()) {
    if (number === 0) continue;
    const at = (first + place) * window.bucketMs;
    const canBe = at <= now + BOOKED_AHEAD_MS && number <= MOST_IN_BUCKET;
    if (!canBe) isWhole = false;
    else if (at >= oldest) add(window, at, number);
  }
  return { window, isWhole };
}
