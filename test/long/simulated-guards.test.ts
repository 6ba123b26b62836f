import { expect, it } from 'vitest';
import { alarmsOf } from '../simulation/alarms.ts';
import { figuresOf } from '../simulation/figures.ts';
import { simulateKeepingPromises } from '../simulation/keeps-its-promises.ts';
import { simulate } from '../simulation/simulation.ts';
import { HOUR, longBacklog, wrongClock } from '../simulation/workloads.ts';

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
  expect(stopped.deadLetters).not.toEqual([]);
  expect([...alarmsOf(stopped, guarded.runsMs).keys()]).toEqual(['dead-letters']);
}, 900_000);

it.each([5, -5])('keeps the limit with a worker whose clock is %i hours off', async (hours) => {
  const load = wrongClock(hours * HOUR, 1);
  const { mostInMinute } = figuresOf(await simulate(load), load);
  expect(mostInMinute).toBeLessThanOrEqual(load.limits.perMinute);
});
