import { expect, it } from 'vitest';
import { simulateKeepingPromises } from './keeps-its-promises.ts';
import { simulate } from './simulation.ts';
import { backlogWithPeople, HOUR, issuesOfSenders, MINUTE, wrongClock } from './workloads.ts';

it('has the same result for the same seed', async () => {
  const load = backlogWithPeople('sliding', 5, 2 * MINUTE, 1);
  const { calls, ...first } = await simulate(load);
  // The service keeps what it is asked, so that the second run must not meet anything of the first.
  const { calls: again, ...second } = await simulate(load);
  expect(again).toEqual(calls);
  expect(second).toEqual(first);
});

it('uses each minute from the first call on, and somebody is always on the way to the line, even without the sweep', async () => {
  const load = { ...issuesOfSenders(400, 3 * MINUTE + 5_000, 4), withoutSweep: true };
  const { figures } = await simulateKeepingPromises(load);
  expect(Math.min(...figures.inMinutes)).toBeGreaterThanOrEqual(114);
});

it.each([5, -5])('loses at most a minute of sending where a clock is %i hours ahead', async (hours) => {
  const load = wrongClock(hours * HOUR, 1);
  const { result } = await simulateKeepingPromises(load);
  expect(result.calls.length).toBeGreaterThanOrEqual(load.limits.perMinute * (load.runsMs / MINUTE - 1));
});
