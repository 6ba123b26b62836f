import { expect, it } from 'vitest';
import { quantile } from '../service/budget/figures.ts';
import { waitsOf } from '../simulation/figures.ts';
import { simulateKeepingPromises } from '../simulation/keeps-its-promises.ts';
import { simulate } from '../simulation/simulation.ts';
import {
  afterOutage,
  dueTogether,
  failingOperation,
  heldCalls,
  limitedJob,
  lostAnswers,
  MINUTE,
  SECOND,
  silentAws,
} from '../simulation/workloads.ts';

it.each([
  [5_000, 1],
  [2_000, 30],
  [2_000, 600],
])(
  'serves the first person at once after an outage of six hours with %i issues: %i s later',
  async (issues, seconds) => {
    const { figures } = await simulateKeepingPromises(afterOutage(issues, seconds * SECOND, 1));
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

it.each<[number, number, number, number]>([
  [0.1, 60, 120, 40],
  [0.3, 60, 120, 60],
  // The aim is 45 s. Five workers need most of that for the calls alone, and chance decides about the rest.
  [0.2, 150, 6_000, 50],
])(
  'sends all where %f of the answers are lost: %i issues, limit %i, within %i s',
  async (part, issues, limit, seconds) => {
    const { result, figures } = await simulateKeepingPromises(lostAnswers(part, issues, limit, 1));
    expect(figures.jobs).toEqual({ succeeded: issues });
    expect(Math.max(...waitsOf(result.calls, () => true))).toBeLessThan(seconds * SECOND);
  },
);

it('an operation that fails for 1,500 jobs costs the other connection nothing', async () => {
  const figures = async (fails: boolean) => {
    const { calls } = await simulate(failingOperation(fails, 1));
    // The 1,500 messages that come at once are in the way of everything, whatever becomes of them.
    return quantile(
      waitsOf(calls, ({ connection, wantedAt }) => connection === 'other' && wantedAt > 2 * MINUTE),
      0.99,
    );
  };
  const [fails, works] = [await figures(true), await figures(false)];
  expect(fails).toBeLessThanOrEqual(1.2 * works);
}, 900_000);

it('goes on with a backlog after AWS did not answer for five minutes', async () => {
  const { jobs } = await simulate(silentAws(5 * MINUTE, 1));
  expect(jobs).toEqual({ succeeded: 600 });
}, 900_000);

it('a job that always meets 429 is parked, and people hardly wait for it', async () => {
  const load = limitedJob(undefined, 1);
  const result = await simulate(load);
  expect(result.jobs.parked).toBe(1);
  const later = waitsOf(result.calls, ({ lane, wantedAt }) => lane === 'interactive' && wantedAt > 5 * MINUTE);
  expect(quantile(later, 0.99)).toBeLessThan(2 * SECOND);
}, 900_000);
