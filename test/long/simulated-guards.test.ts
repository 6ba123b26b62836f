import { expect, it } from 'vitest';
import { alarmsOf } from '../simulation/alarms.ts';
import { simulateKeepingPromises } from '../simulation/keeps-its-promises.ts';
import { simulate } from '../simulation/simulation.ts';
import { longBacklog } from '../simulation/workloads.ts';

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
