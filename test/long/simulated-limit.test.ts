import { expect, it } from 'vitest';
import { A_CALL } from '../figures/ceilings.ts';
import { mostWithin } from '../service/budget/figures.ts';
import { countedIn, isAfterStart, p99Of, waitsOfPeople } from '../simulation/figures.ts';
import { expectQuickAndCheap, simulateKeepingPromises } from '../simulation/keeps-its-promises.ts';
import { simulate } from '../simulation/simulation.ts';
import * as loads from '../simulation/workloads.ts';
import { DAY, MINUTE } from '../simulation/workloads.ts';

// The first ten minutes are the hardest, because the first burst uses a minute's limit at once. All later ones are
// alike. No sliding minute has more calls than the limit, and so no calendar minute, and no minute that begins with a
// request.
it.each([5, 45])('uses the limit with 5+%i workers', async (workers) => {
  const { figures } = await simulateKeepingPromises(loads.backlogWithPeople('sliding', workers, 20 * MINUTE, 1));
  for (const part of figures.used.main ?? []) expect.soft(part).toBeGreaterThanOrEqual(0.95);
  expectQuickAndCheap(figures);
  // docs/scale.md computes its ceilings from these. With more workers, each waits longer for its slot.
  const { workerSecondsPerCall, indexUnitsPerCall, writeUnitsPerCall, receivesPerCall } = figures;
  if (workers === 5) expect.soft(workerSecondsPerCall / A_CALL.workerSeconds).toBeLessThan(1.1);
  expect.soft(indexUnitsPerCall / A_CALL.indexUnits).toBeLessThan(1.1);
  expect.soft(writeUnitsPerCall / A_CALL.writeUnits).toBeLessThan(1.1);
  expect.soft(receivesPerCall / A_CALL.receives).toBeLessThan(1.1);
});

it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])(
  'uses each minute from the first call on, with only the issues of 16 senders: start %i',
  async (seed) => {
    const { figures } = await simulateKeepingPromises(loads.issuesOfSenders(700, 6 * MINUTE, seed));
    expect.soft(Math.min(...figures.inMinutes), 'calls in a minute').toBeGreaterThanOrEqual(114);
    const inFive = figures.inMinutes.slice(0, 5).reduce((sum, calls) => sum + calls, 0);
    expect.soft(inFive, 'calls in the first five minutes').toBeGreaterThanOrEqual(575);
  },
);

it.each([
  ['others send 40 calls a minute with the key', { othersPerMinute: 40 }],
  ['the real limit is half', { realPerMinute: 60 }],
])('learns what the service allows if %s', async (_, how) => {
  const { calls, errors } = await simulate(loads.fewerThanConfigured(how, 1));
  expect.soft([...errors.keys()]).toEqual([]);
  expect.soft(p99Of(waitsOfPeople(calls, isAfterStart)), 'wait of people (p99)').toBeLessThanOrEqual(10_000);
  expect.soft(calls.filter(({ status }) => status === 429).length, 'refused').toBeLessThan(8);
});

it('keeps and uses the limit on each of two days', async () => {
  const load = loads.twoDays(1);
  const { result, figures } = await simulateKeepingPromises(load);
  for (const calls of countedIn(result.calls, load, 'main', DAY)) {
    expect.soft(calls, 'calls in a day').toBeGreaterThanOrEqual(0.95 * load.limits.perDay);
  }
  const answered = result.calls.flatMap(({ sentAt, answeredAt }) => (answeredAt ? { sentAt, answeredAt } : []));
  expect.soft(mostWithin(answered, DAY), 'calls in any 24 hours').toBeLessThanOrEqual(load.limits.perDay);
  expectQuickAndCheap(figures);
});
