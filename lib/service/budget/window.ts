export const MINUTE = 60_000;
export const DAY = 24 * 60 * MINUTE;

/** What a connection's key may send (docs/partner-api.md, Limits). */
export interface Limits {
  perMinute: number;
  perDay: number;
}

/**
 * A sliding window: how many calls the service has counted in it, by buckets of time. A call counts until `lengthMs`
 * after the end of its bucket.
 */
export interface Window {
  lengthMs: number;
  bucketMs: number;
  /** The number of the first bucket, counted since the epoch. */
  first: number;
  calls: number[];
}

/** Small enough to lose little of each minute, and large enough to keep the item below 1 KB. */
export const emptyMinute = (): Window => ({ lengthMs: MINUTE, bucketMs: 125, first: 0, calls: [] });
export const emptyDay = (): Window => ({ lengthMs: DAY, bucketMs: 10 * MINUTE, first: 0, calls: [] });
export const emptyWeek = (): Window => ({ lengthMs: 7 * DAY, bucketMs: DAY / 4, first: 0, calls: [] });
export const emptyTenMinutes = (): Window => ({ lengthMs: 10 * MINUTE, bucketMs: MINUTE, first: 0, calls: [] });

/**
 * When a window has room again. Callers are counted from 0: a caller with at least `from` others ahead of it waits
 * until `at`. Both grow from one opening to the next. For callers before the first opening there is room now.
 */
export interface Opening {
  from: number;
  at: number;
}

/** Counts calls that the service has counted by then at the latest. */
export function add(window: Window, countedBy: number, calls = 1): void {
  const bucket = Math.floor(countedBy / window.bucketMs);
  if (window.calls.length === 0) window.first = bucket;
  for (; bucket < window.first; window.first--) window.calls.unshift(0);
  while (window.calls.length <= bucket - window.first) window.calls.push(0);
  window.calls[bucket - window.first] = (window.calls[bucket - window.first] ?? 0) + calls;
}

/** Takes back what {@link add} counted. @returns false if it has left the window */
export function remove(window: Window, countedBy: number): boolean {
  const index = Math.floor(countedBy / window.bucketMs) - window.first;
  const calls = window.calls[index] ?? 0;
  if (calls > 0) window.calls[index] = calls - 1;
  return calls > 0;
}

export function callsIn({ calls }: Window): number {
  return calls.reduce((sum, some) => sum + some, 0);
}

/** Forgets the buckets that have left the window. */
export function trim(window: Window, now: number): void {
  const { lengthMs, bucketMs, first } = window;
  const over = Math.max(0, Math.floor((now - lengthMs) / bucketMs) - first);
  window.first = first + over;
  window.calls = window.calls.slice(over);
}

/** The calls in the buckets from the one of `from` to the one of `to`. */
export function callsBetween({ first, bucketMs, calls }: Window, from: number, to = Number.POSITIVE_INFINITY): number {
  const placeOf = (at: number) => Math.floor(at / bucketMs) - first;
  return calls.slice(Math.max(0, placeOf(from)), Math.max(0, placeOf(to) + 1)).reduce((sum, some) => sum + some, 0);
}

/** The most calls in consecutive buckets of that total length. */
export function mostCallsIn({ bucketMs, calls }: Window, lengthMs: number): number {
  const buckets = lengthMs / bucketMs;
  const spans = calls.map((_, index) => calls.slice(Math.max(0, index + 1 - buckets), index + 1));
  return Math.max(0, ...spans.map((span) => span.reduce((sum, some) => sum + some, 0)));
}

/** When a window with that limit has room again. */
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

/** Loaded on first use, because few cold starts need it. */
const zlib = () => process.getBuiltinModule('node:zlib');

/** By default, it takes 300 KB of memory each time, and most of the time for that. */
const PACKING = { windowBits: 10, memLevel: 4, chunkSize: 1_024 };

/**
 * The window in few bytes. While calls without an answer are held for another minute, most of its thousand buckets are
 * empty.
 */
export const packWindow = ({ first, calls }: Window): Uint8Array =>
  zlib().deflateRawSync(JSON.stringify([first, ...calls]), PACKING);

/** A thousand buckets of {@link MOST_IN_BUCKET} calls have less. */
const LONGEST_LIST_BYTES = 16_000;

/** The numbers of a packed window; undefined for something that {@link packWindow} did not make. */
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
/** Slots are booked at most so far ahead: a call without an answer counts for another minute. */
const BOOKED_AHEAD_MS = MINUTE + 10_000;

/**
 * Fills an empty window, without what has left it. A bucket that cannot be is left out: of a time that has not come, or
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
