import { expect, it } from 'vitest';
import { A_CALL } from '../figures/ceilings.ts';
import { expectQuickAndCheap, simulateKeepingPromises } from '../simulation/keeps-its-promises.ts';
import { backlogWithPeople, issuesOfSenders, MINUTE } from '../simulation/workloads.ts';

/** The first ten minutes are the hardest: the first burst takes a minute's limit at once. Then every ten are alike. */
const MINUTES = 20;

// No sliding minute has more calls than the limit, and so no calendar minute, nor one that begins with a request.
it.each([5, 45])(
  'uses the limit with 5+%i workers',
  async (workers) => {
    const load = backlogWithPeople('sliding', workers, MINUTES * MINUTE, 1);
    const { figures } = await simulateKeepingPromises(load);
    for (const part of figures.used.main ?? []) expect.soft(part).toBeGreaterThanOrEqual(0.95);
    expectQuickAndCheap(figures);
    // docs/scale.md computes its ceilings from them. The more workers there are, the longer each waits for its slot.
    const { workerSecondsPerCall, indexUnitsPerCall, writeUnitsPerCall, receivesPerCall } = figures;
    if (workers === 5) expect.soft(workerSecondsPerCall / A_CALL.workerSeconds).toBeLessThan(1.1);
    expect.soft(indexUnitsPerCall / A_CALL.indexUnits).toBeLessThan(1.1);
    expect.soft(writeUnitsPerCall / A_CALL.writeUnits).toBeLessThan(1.1);
    expect.soft(receivesPerCall / A_CALL.receives).toBeLessThan(1.1);
  },
  900_000,
);

it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])(
  'uses each minute from the first call on, with nobody but the issues of 16 senders: start %i',
  async (seed) => {
    const { figures } = await simulateKeepingPromises(issuesOfSenders(700, 6 * MINUTE, seed));
    expect.soft(Math.min(...figures.inMinutes), 'calls in a minute').toBeGreaterThanOrEqual(114);
    const inFive = figures.inMinutes.slice(0, 5).reduce((sum, calls) => sum + calls, 0);
    expect.soft(inFive, 'calls in the first five minutes').toBeGreaterThanOrEqual(575);
  },
  900_000,
);
