import { expect, it } from 'vitest';
import { alarmsOf } from '../simulation/alarms.ts';
import { simulateKeepingPromises } from '../simulation/keeps-its-promises.ts';
import { simulate } from '../simulation/simulation.ts';
import { longBacklog, noWorker } from '../simulation/workloads.ts';

/** Lambda stops the next invocation after about so many. */
const ROUNDS = 16;

it("a long backlog goes on where Lambda's guard against loops would stop its messages", async () => {
  const load = longBacklog(false, 1);
  const { result, figures } = await simulateKeepingPromises(load);
  expect(figures.longestChain).toBeGreaterThan(ROUNDS);
  expect([...alarmsOf(result, load.runsMs).keys()]).toEqual([]);

  const guarded = longBacklog(true, 1);
  const stopped = await simulate(guarded);
  expect(stopped.mostRounds).toBe(ROUNDS);
  expect(stopped.deadLetters.length).toBeGreaterThan(10);
  expect([...alarmsOf(stopped, guarded.runsMs).keys()]).toEqual(['background-dead-letters']);
}, 900_000);

it('while the worker does not run, alarms say that no worker claims jobs, and that messages are old', async () => {
  const load = noWorker(1);
  const result = await simulate(load);
  const wentOff = alarmsOf(result, load.runsMs);
  expect([...wentOff.keys()].sort()).toEqual([
    'background-oldest-message',
    'interactive-oldest-message',
    'overdue-jobs',
  ]);
  for (const minute of wentOff.values()) expect(minute).toBeLessThanOrEqual(20);
  expect(result.jobs).toEqual({ queued: load.arrivals.length });
});
