import { expect, it } from 'vitest';
import { simulateKeepingPromises } from '../simulation/keeps-its-promises.ts';
import { afterOutage, dueTogether, heldCalls, SECOND } from '../simulation/workloads.ts';

it.each([1, 30, 600])(
  'serves the first person %i s after an outage of six hours at once',
  async (seconds) => {
    const { figures } = await simulateKeepingPromises(afterOutage(seconds * SECOND, 1));
    expect(figures.people.mostMs).toBeLessThan(5_000);
  },
  900_000,
);

it('sweeps 5,000 jobs that are due at the same moment', async () => {
  const { result } = await simulateKeepingPromises(dueTogether(1));
  expect(result.jobs).toEqual({ succeeded: 5_000 });
});

it('is not refused where a gateway holds calls for longer than the relay waits', async () => {
  const { figures } = await simulateKeepingPromises(heldCalls(1));
  // The slowest is one whose own call was held, several times for some seeds.
  expect(figures.people.p50Ms).toBeLessThan(1_000);
  expect(figures.people.mostMs).toBeLessThan(120_000);
});
