import fc from 'fast-check';
import { expect, it } from 'vitest';
import { usedUpAt } from '../../../lib/service/budget/used-up.ts';
import { add, callsIn, emptyDay, MINUTE, trim } from '../../../lib/service/budget/window.ts';

const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = Date.parse('2026-11-20T10:00:00Z');

/** The day's window with these calls. */
function day(...calls: { hoursAgo: number; count: number }[]) {
  const window = emptyDay();
  for (const { hoursAgo, count } of calls) {
    for (let each = 0; each < count; each++) add(window, NOW - hoursAgo * HOUR);
  }
  return window;
}

it('a quiet hour has no forecast, and a full day is used up now', () => {
  expect(usedUpAt(day({ hoursAgo: 3, count: 400 }), 500, NOW)).toBeUndefined();
  expect(usedUpAt(day({ hoursAgo: 3, count: 500 }), 500, NOW)).toBe(NOW);
});

it('calls within ten minutes count until all of them are a day old', () => {
  const window = day({ hoursAgo: 23.5, count: 100 }, { hoursAgo: 0.5, count: 60 });
  expect(usedUpAt(window, 200, NOW)).toBe(NOW + 40 * MINUTE);
  expect(usedUpAt(window, 201, NOW)).toBe(NOW + 141 * MINUTE);
});

it('the calls reach the limit at the time of the forecast, and at neither end of an earlier bucket', () => {
  const call = fc.record({ hoursAgo: fc.integer({ min: 0, max: 47 }).map((half) => half / 2), count: fc.nat(120) });
  fc.assert(
    fc.property(fc.array(call, { maxLength: 20 }), fc.integer({ min: 1, max: 5_000 }), (calls, limit) => {
      const window = day(...calls);
      const used = callsIn(window);
      fc.pre(used < limit);
      const from = Math.floor((NOW - HOUR) / window.bucketMs) * window.bucketMs;
      const recent = calls.filter(({ hoursAgo }) => hoursAgo <= 1).reduce((sum, { count }) => sum + count, 0);
      const perMs = recent / (NOW - from);
      /** The calls that count at a time, if the relay keeps this pace. */
      const countAt = (time: number) => {
        const then = { ...window };
        trim(then, time);
        return callsIn(then) + perMs * (time - NOW);
      };
      const forecast = usedUpAt(window, limit, NOW);
      for (let end = NOW + window.bucketMs; end < (forecast ?? NOW + DAY); end += window.bucketMs) {
        for (const time of [end - 1, end]) expect(countAt(time)).toBeLessThan(limit + 1e-6);
      }
      if (forecast !== undefined) expect(countAt(forecast - 1)).toBeGreaterThan(limit - 1);
    }),
  );
});
