import { expect, it } from 'vitest';
import { simulate } from './simulation.ts';
import { backlogWithPeople, MINUTE } from './workloads.ts';

it('has the same result for the same seed', async () => {
  const load = backlogWithPeople('sliding', 5, 2 * MINUTE, 1);
  const { calls, ...first } = await simulate(load);
  // The service keeps what it is asked, so that the second run must not meet anything of the first.
  const { calls: again, ...second } = await simulate(load);
  expect(again).toEqual(calls);
  expect(second).toEqual(first);
});
