import type { Item } from '../table/table.ts';
import { pack, unpack } from './packed.ts';
import { DAY, MINUTE, type Opening } from './slot-times.ts';

/** Days are counted by the tenth of an hour and a bit: a slot counts until its bucket's end, a day later. */
const BUCKET_MS = 10 * MINUTE;
const BUCKETS_OF_A_DAY = DAY / BUCKET_MS;

/** Those of one lane who are to come back. */
export interface Line {
  /** When the last of them does; epoch milliseconds, in the past where there is nobody. */
  until: number;
  /** How many they are. */
  length: number;
  /** When the last of those does who came back and found no slot. */
  againUntil: number;
}

/** What is known of a connection's budget. Times are epoch milliseconds. */
export interface BudgetState {
  version: number;
  /** When each slot of the minute stops counting, in ascending order. */
  slots: number[];
  /** Slots by bucket of the day, from the bucket of that number since the epoch on. */
  firstBucket: number;
  buckets: number[];
  pausedUntil: number;
  lines: { interactive: Line; background: Line };
}

/** @throws {TypeError | RangeError} for an item that is none of a budget */
export function readState(item: Item | undefined, now: number): BudgetState {
  if (!item) return forget({ ...emptyState(), version: 0 }, now);
  const { version, since, slots, firstBucket, buckets, pausedUntil, interactive, background } = item;
  const state = {
    version: number(version),
    slots: sums(unpack(binary(slots)), number(since)),
    firstBucket: number(firstBucket),
    buckets: unpack(binary(buckets)),
    pausedUntil: number(pausedUntil),
    lines: { interactive: line(interactive), background: line(background) },
  };
  return forget(state, now);
}

/** Below 1 KB for the service's limits, so that writing it costs one unit. */
export function stateItem(state: BudgetState): Item {
  const { version, slots, firstBucket, buckets, pausedUntil, lines } = state;
  const since = slots[0] ?? 0;
  return {
    version,
    since,
    slots: pack(slots.map((at, index) => at - (slots[index - 1] ?? since))),
    firstBucket,
    buckets: pack(buckets),
    pausedUntil,
    interactive: asList(lines.interactive),
    background: asList(lines.background),
  };
}

/**
 * Adds a slot to the minute.
 * @returns when it stops counting: a little later where another one has that time, for the time is what tells it apart
 */
export function addToMinute(state: BudgetState, countsUntil: number): number {
  let place = state.slots.findLastIndex((at) => at < countsUntil) + 1;
  let at = countsUntil;
  for (; state.slots[place] === at; place++) at++;
  state.slots.splice(place, 0, at);
  return at;
}

/** Adds a slot to the day, of a call that has been counted by then at the latest. */
export function addToDay(state: BudgetState, countedBy: number): void {
  const bucket = Math.floor(countedBy / BUCKET_MS);
  if (state.buckets.length === 0) state.firstBucket = bucket;
  while (bucket < state.firstBucket) {
    state.buckets.unshift(0);
    state.firstBucket--;
  }
  while (state.buckets.length <= bucket - state.firstBucket) state.buckets.push(0);
  state.buckets[bucket - state.firstBucket] = (state.buckets[bucket - state.firstBucket] ?? 0) + 1;
}

/** Takes a slot out of the minute. @returns false where it stopped counting long ago */
export function removeSlot(state: BudgetState, countsUntil: number): boolean {
  const place = state.slots.indexOf(countsUntil);
  if (place >= 0) state.slots.splice(place, 1);
  return place >= 0;
}

/** Takes a slot out of the day, for it was not used. */
export function removeFromDay(state: BudgetState, countedBy: number): void {
  const place = Math.floor(countedBy / BUCKET_MS) - state.firstBucket;
  state.buckets[place] = Math.max(0, (state.buckets[place] ?? 0) - 1);
}

export function slotsOfDay(state: BudgetState): number {
  return state.buckets.reduce((sum, slots) => sum + slots, 0);
}

/** When a minute of so many calls has room again. */
export function minuteOpenings({ slots }: BudgetState, perMinute: number): Opening[] {
  return slots
    .map((at, index) => ({ from: perMinute - slots.length + index, at }))
    .slice(Math.max(0, slots.length - perMinute));
}

/** When a day of so many calls has room again. */
export function dayOpenings(state: BudgetState, perDay: number): Opening[] {
  const openings: Opening[] = [];
  let from = perDay - slotsOfDay(state);
  for (const [index, slots] of state.buckets.entries()) {
    if (slots > 0 && from + slots > 0) {
      openings.push({ from, at: (state.firstBucket + index + 1 + BUCKETS_OF_A_DAY) * BUCKET_MS });
    }
    from += slots;
  }
  return openings;
}

function emptyState(): BudgetState {
  const nobody = () => ({ until: 0, length: 0, againUntil: 0 });
  return {
    version: 0,
    slots: [],
    firstBucket: 0,
    buckets: [],
    pausedUntil: 0,
    lines: { interactive: nobody(), background: nobody() },
  };
}

/** Leaves out what no longer counts. */
function forget(state: BudgetState, now: number): BudgetState {
  const over = Math.floor(now / BUCKET_MS) - BUCKETS_OF_A_DAY - state.firstBucket;
  if (over > 0) {
    state.buckets = state.buckets.slice(over);
    state.firstBucket += over;
  }
  state.slots = state.slots.filter((at) => at > now);
  for (const line of Object.values(state.lines)) if (line.until <= now) line.length = 0;
  return state;
}

function asList({ until, length, againUntil }: Line): number[] {
  return [until, length, againUntil];
}

function line(value: unknown): Line {
  if (!Array.isArray(value)) throw new TypeError('expected a list');
  const [until, length, againUntil] = value;
  return { until: number(until), length: number(length), againUntil: number(againUntil) };
}

function sums(differences: readonly number[], from: number): number[] {
  let sum = from;
  return differences.map((difference) => {
    sum += difference;
    return sum;
  });
}

function number(value: unknown): number {
  if (typeof value !== 'number') throw new TypeError('expected a number');
  return value;
}

function binary(value: unknown): Uint8Array {
  if (!(value instanceof Uint8Array)) throw new TypeError('expected bytes');
  return value;
}
