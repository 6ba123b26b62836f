import { expect, it } from 'vitest';
import { alarmsOf } from '../simulation/alarms.ts';
import { waitsOf } from '../simulation/figures.ts';
import { simulateKeepingPromises } from '../simulation/keeps-its-promises.ts';
import { simulate } from '../simulation/simulation.ts';
import * as loads from '../simulation/workloads.ts';
import { MINUTE, SECOND } from '../simulation/workloads.ts';

/** The number of invocations after which Lambda stops the next. */
const ROUNDS = 16;

it("a long backlog continues where Lambda's protection against loops would stop its messages", async () => {
  const load = loads.longBacklog(false, 1);
  const { result, figures } = await simulateKeepingPromises(load);
  expect(figures.longestChain).toBeGreaterThan(ROUNDS);
  expect(alarmsOf(result, load.runsMs)).toEqual([]);
  const stopped = await simulate(loads.longBacklog(true, 1));
  expect(stopped.mostRounds).toBe(ROUNDS);
  expect(stopped.deadLetters).not.toEqual([]);
});

it.each([
  [5_000, 1],
  [2_000, 600],
])(
  'serves the first person at once after an outage of six hours with %i issues: %i s later',
  async (issues, seconds) => {
    const { figures } = await simulateKeepingPromises(loads.afterOutage(issues, seconds * SECOND, 1));
    expect(figures.people.mostMs).toBeLessThan(5_000);
  },
);

it('sweeps 5,000 jobs that are due at the same moment', async () => {
  const { result } = await simulateKeepingPromises(loads.dueTogether(1));
  expect(result.jobs).toEqual({ 'not-done': 5_000 });
});

it('is not refused if a gateway holds calls for longer than the relay waits', async () => {
  const { figures } = await simulateKeepingPromises(loads.heldCalls(1));
  // The slowest command's own call was held, with some seeds several times.
  expect(figures.people.p50Ms).toBeLessThan(1_000);
  expect(figures.people.mostMs).toBeLessThan(120_000);
});

it.each<[number, number, number, number]>([
  [0.1, 60, 120, 40],
  [0.3, 60, 120, 60],
  // The aim is 45 s. Five workers need most of that for the calls alone, and the rest is chance.
  [0.2, 150, 6_000, 50],
])(
  'sends everything if %f of the answers are lost: %i issues, limit %i, within %i s',
  async (part, issues, limit, seconds) => {
    const { result, figures } = await simulateKeepingPromises(loads.lostAnswers(part, issues, limit, 1));
    expect(figures.jobs).toEqual({ succeeded: issues });
    expect(Math.max(...waitsOf(result.calls, () => true))).toBeLessThan(seconds * SECOND);
  },
);

it('continues a backlog after AWS did not answer for five minutes', async () => {
  const { jobs } = await simulate(loads.silentAws(5 * MINUTE, 1));
  expect(jobs).toEqual({ succeeded: 600 });
});
