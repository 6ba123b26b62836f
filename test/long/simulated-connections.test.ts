import { expect, it } from 'vitest';
import { expectQuickAndCheap, simulateKeepingPromises } from '../simulation/keeps-its-promises.ts';
import { ISSUES_OF_EACH, sixConnections } from '../simulation/workloads.ts';

it('uses the limits of six connections at once', async () => {
  const load = sixConnections(1);
  const { result, figures } = await simulateKeepingPromises(load);
  // In the last stretch of ten minutes the backlog comes to its end.
  const full = Math.floor(ISSUES_OF_EACH / (10 * load.limits.perMinute));
  for (const parts of Object.values(figures.used)) {
    for (const part of parts.slice(0, full)) expect.soft(part).toBeGreaterThanOrEqual(0.95);
  }
  expectQuickAndCheap(figures);
  expect.soft(result.jobs).toEqual({ succeeded: load.arrivals.length });
}, 900_000);
