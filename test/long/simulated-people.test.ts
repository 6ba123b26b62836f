import { expect, it } from 'vitest';
import { countedIn, isAfterStart, p99Of, waitsForLast, waitsOf, waitsOfPeople } from '../simulation/figures.ts';
import { simulateKeepingPromises } from '../simulation/keeps-its-promises.ts';
import { simulate } from '../simulation/simulation.ts';
import * as loads from '../simulation/workloads.ts';
import { MINUTE, SECOND } from '../simulation/workloads.ts';

/** The best possible use of the limit: docs/decisions/0008-exact-budget.md. */
const MOST_OF_LIMIT = 0.966;

/**
 * With five workers, an event may find all of them busy with calls of the backfill, which take two seconds here at
 * most.
 */
it.each([
  { workers: 45, laterMs: 1_000 },
  { workers: 5, laterMs: 4_000 },
])(
  'people and events hardly wait longer beside a backfill, which uses what they leave, with 5+$workers workers',
  async ({ workers, laterMs }) => {
    const without = await simulateKeepingPromises(loads.besideBackfill(workers, false, 2));
    const { result, figures } = await simulateKeepingPromises(loads.besideBackfill(workers, true, 2));
    const ofEvents = (calls: typeof result.calls) => p99Of(waitsOf(calls, ({ lane }) => lane === 'background'));
    expect.soft(result.calls.filter(({ lane }) => lane === 'backfill')).toHaveLength(loads.BACKFILLED);
    expect.soft(figures.people.p99Ms, 'wait of people (p99)').toBeLessThan(without.figures.people.p99Ms + 200);
    expect.soft(ofEvents(result.calls), 'wait of events').toBeLessThan(ofEvents(without.result.calls) + laterMs);
    // One to three slots stay free for people's commands.
    expect.soft(figures.used.main?.[0]).toBeGreaterThanOrEqual(0.94 * MOST_OF_LIMIT);
  },
);

it.each([
  [2, 4_000],
  // The aim is 6 s; docs/scale.md says what prevents it.
  [4, 8_000],
])(
  'ends ten commands a minute of %i calls behind a backlog within %i ms, and uses the limit',
  async (count, mostMs) => {
    const waits: number[] = [];
    let used = 0;
    let usable = 0;
    // Both together, because the slowest of a hundred commands alone says little.
    for (const seed of [1, 2]) {
      const load = loads.commandsOf(count, seed);
      const { calls, errors } = await simulate(load);
      expect.soft([...errors.keys()]).toEqual([]);
      waits.push(...waitsForLast(calls, isAfterStart));
      used += countedIn(calls, load, 'main', 10 * MINUTE)[0] ?? 0;
      usable += 10 * load.limits.perMinute;
    }
    expect.soft(p99Of(waits), 'last call (p99)').toBeLessThanOrEqual(mostMs);
    expect.soft(used / usable, 'part of the limit').toBeGreaterThanOrEqual(0.95);
  },
);

it.each([0, 1_500])(
  "serves people's first commands at once while one person floods the relay, behind a backlog of %i issues",
  async (issues) => {
    const load = loads.flood(issues, 1);
    const { calls, errors, jobs } = await simulate(load);
    const waits = waitsOfPeople(calls, ({ person }) => person !== loads.FLOODER);
    const others = load.arrivals.filter(({ person }) => person !== undefined && person !== loads.FLOODER);
    expect.soft([...errors.keys()]).toEqual([]);
    expect.soft(jobs.parked ?? 0, 'parked jobs').toBe(0);
    expect.soft(waits.length, 'others who were served').toBe(others.length);
    expect.soft(p99Of(waits), 'wait of others (p99)').toBeLessThan(2_000);
  },
);

it('a job that always gets a 429 is parked, and people hardly wait for it', async () => {
  const { calls, jobs } = await simulate(loads.limitedJob(1));
  expect(jobs.parked).toBe(1);
  // The seeds 1 to 3 give 1.8 to 2.4 s.
  expect(p99Of(waitsOfPeople(calls, ({ wantedAt }) => wantedAt > 5 * MINUTE))).toBeLessThan(2.5 * SECOND);
});
