import { expect, it } from 'vitest';
import { simulateKeepingPromises } from './keeps-its-promises.ts';
import { type Call, simulate } from './simulation.ts';
import { backlogWithPeople, HOUR, issuesOfSenders, MINUTE, SECOND, shortPause, wrongClock } from './workloads.ts';

it('has the same result for the same seed', async () => {
  const load = backlogWithPeople('sliding', 5, 2 * MINUTE, 1);
  const { calls, ...first } = await simulate(load);
  // The service remembers requests, so the second run must not meet any of the first.
  const { calls: again, ...second } = await simulate(load);
  expect(again).toEqual(calls);
  expect(second).toEqual(first);
});

it('uses each minute from the first call on, and the line always has a job on its way, even without the sweep', async () => {
  const load = { ...issuesOfSenders(400, 3 * MINUTE + 5_000, 4), withoutSweep: true };
  const { figures } = await simulateKeepingPromises(load);
  expect(Math.min(...figures.inMinutes)).toBeGreaterThanOrEqual(114);
});

it.each([5, 20])(
  'after a pause of %i s, everyone who waits for its end is served, even without the sweep',
  async (seconds) => {
    const { calls, stranded, jobs } = await simulate({ ...shortPause(seconds, 1), withoutSweep: true });
    const over =
      Math.max(...calls.map(({ status, answeredAt = 0 }) => (status === 429 ? answeredAt : 0))) + seconds * SECOND;
    const served = calls.filter(({ status }) => status !== 429);
    const firstOf = (isMeant: (call: Call) => boolean) =>
      Math.min(...served.filter(isMeant).map(({ sentAt }) => sentAt));
    const [met] = calls;
    expect(stranded).toEqual([]);
    expect(jobs).toEqual({ succeeded: 9 });
    // People's first commands, and their further ones.
    expect(firstOf(({ jobId }) => jobId === met?.jobId) - over).toBeLessThan(4 * SECOND);
    expect(firstOf(({ person, jobId }) => person === met?.person && jobId !== met?.jobId) - over).toBeLessThan(
      4 * SECOND,
    );
    expect(Math.max(...served.map(({ sentAt }) => sentAt)) - over).toBeLessThan(8 * SECOND);
  },
);

it.each([5, -5])('loses at most a minute of sending if a clock is %i hours ahead', async (hours) => {
  const load = wrongClock(hours * HOUR, 1);
  const { result } = await simulateKeepingPromises(load);
  expect(result.calls.length).toBeGreaterThanOrEqual(load.limits.perMinute * (load.runsMs / MINUTE - 1));
});
