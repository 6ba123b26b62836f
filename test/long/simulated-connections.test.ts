import { expect, it } from 'vitest';
import { isAfterStart, p99Of, waitsOf } from '../simulation/figures.ts';
import { expectQuickAndCheap, simulateKeepingPromises } from '../simulation/keeps-its-promises.ts';
import { simulate } from '../simulation/simulation.ts';
import * as loads from '../simulation/workloads.ts';

it('uses the limits of six connections at once', async () => {
  const load = loads.sixConnections(1);
  const { result, figures } = await simulateKeepingPromises(load);
  // In the last stretch of ten minutes the backlog comes to its end.
  const full = Math.floor(loads.ISSUES_OF_EACH / (10 * load.limits.perMinute));
  for (const parts of Object.values(figures.used)) {
    // From a cold start, all workers are busy for half a minute with the messages that are ahead of a connection's first.
    for (const [at, part] of parts.slice(0, full).entries()) {
      expect.soft(part).toBeGreaterThanOrEqual(at === 0 ? 0.93 : 0.95);
    }
  }
  expectQuickAndCheap(figures);
  expect.soft(result.jobs).toEqual({ succeeded: load.arrivals.length });
});

it('an operation that fails for 1,500 jobs costs the other connection nothing', async () => {
  // The 1,500 messages that come at once are in the way of everything, whatever becomes of them.
  const ofOther = async (fails: boolean) => {
    const { calls } = await simulate(loads.failingOperation(fails, 1));
    return p99Of(waitsOf(calls, (call) => call.connection === 'other' && isAfterStart(call)));
  };
  expect(await ofOther(true)).toBeLessThanOrEqual(1.2 * (await ofOther(false)));
});
