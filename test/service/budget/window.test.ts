import { describe, expect, it } from 'vitest';
import {
  add,
  callsBetween,
  callsIn,
  emptyMinute,
  mostCallsIn,
  packWindow,
  remove,
  trim,
  unpackWindow,
  type Window,
} from '../../../lib/service/budget/window.ts';

/** Four buckets of a second. */
const kept = (): Window => ({ lengthMs: 4_000, bucketMs: 1_000, first: 10, calls: [1, 2, 3, 4] });

describe('a window', () => {
  it.each([
    ['all', 0, undefined, 10],
    ['one bucket', 11_000, 11_999, 2],
    ['from within one to within the next', 11_500, 12_500, 5],
    ['up to the beginning of one', 10_000, 12_000, 6],
    ['from the last', 13_999, undefined, 4],
    ['before the first', 0, 9_999, 0],
    ['after the last', 14_000, undefined, 0],
  ])('counts the calls of the buckets that a time touches: %s', (_, from, to, calls) => {
    expect(callsBetween(kept(), from, to)).toBe(calls);
  });

  it.each([
    [1_000, 4],
    [2_000, 7],
    [3_000, 9],
    [60_000, 10],
  ])('has its most calls within %i ms in the buckets that follow one another', (lengthMs, calls) => {
    expect(mostCallsIn(kept(), lengthMs)).toBe(calls);
    expect(mostCallsIn({ ...kept(), calls: [4, 3, 2, 1] }, lengthMs)).toBe(calls);
  });

  it.each([
    [14_000, 10, [1, 2, 3, 4]],
    [14_999, 10, [1, 2, 3, 4]],
    [15_000, 11, [2, 3, 4]],
    [60_000, 56, []],
  ])('forgets at %i the calls that have left it', (now, first, calls) => {
    const window = kept();
    trim(window, now);
    expect(window).toMatchObject({ first, calls });
  });

  it.each([
    ['in a bucket', 11_999, 10, [1, 3, 3, 4]],
    ['after the last', 15_000, 10, [1, 2, 3, 4, 0, 1]],
    ['before the first', 8_000, 8, [1, 0, 1, 2, 3, 4]],
  ])('adds a call %s, and takes it back', (_, at, first, calls) => {
    const window = kept();
    add(window, at);
    expect(window).toMatchObject({ first, calls });
    expect(remove(window, at)).toBe(true);
    expect(callsBetween(window, 0)).toBe(10);
  });

  it('takes nothing back if there is no call', () => {
    const window = { ...kept(), calls: [0, 2] };
    expect([10_000, 9_000, 12_000].map((at) => remove(window, at))).toEqual([false, false, false]);
    expect(window.calls).toEqual([0, 2]);
  });

  it.each([
    ['as far ahead as slots are booked', 70_000, 1, 1, true],
    ['further ahead', 70_125, 1, 0, false],
    ['with the most calls', 0, 1_000_000, 1_000_000, true],
    ['with more', 0, 1_000_001, 0, false],
    ['as old as the window', -60_000, 1, 1, true],
    ['older', -60_125, 1, 0, true],
  ])('reads a bucket that was stored: %s', (_, after, calls, counted, isWhole) => {
    const now = 1_000_000_000;
    const stored = emptyMinute();
    add(stored, now + after, calls);
    const read = unpackWindow(emptyMinute(), packWindow(stored), now);
    expect([callsIn(read.window), read.isWhole]).toEqual([counted, isWhole]);
  });
});
