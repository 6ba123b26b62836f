import { expect, it } from 'vitest';
import { expectQuickAndCheap, simulateKeepingPromises } from '../simulation/keeps-its-promises.ts';
import { ISSUES_OF_EACH, sixConnections } from '../simulation/workloads.ts';

it('uses the limits of six connections at once', async () => {
  const load = sixConnections(1);
  const { result, figures } = await simulateKeepingPromises(load);
  // In the last stretch of ten minutes the backlog comes to its end.
  const full = Math.floor(ISSUES_OF_EACH / (10 * load.limits.perMinute));
  for (const parts of Object.values(figures.used)) {
    // From a cold start, all workers are busy for half a minute with the messages that are ahead of a connection's first.
    for (const [at, part] of parts.slice(0, full).entries()) {
      expect.soft(part).toBeGreaterThanOrEqual(at === 0 ? 0.93 : 0.95);
    }
  }
  expectQuickAndCheap(figures);
  expect.soft(result.jobs).toEqual({ succeeded: load.arrivals.length });
}, 900_000);
