import { expect, it } from 'vitest';
import { quantile } from '../service/budget/figures.ts';
import { waitsOfPeople } from '../simulation/figures.ts';
import { simulate } from '../simulation/simulation.ts';
import { FLOODER, flood } from '../simulation/workloads.ts';

it.each([0, 1_500])(
  "serves people's first commands at once while one person floods, over a backlog of %i issues",
  async (issues) => {
    const load = flood(issues, 1);
    const { calls, errors, jobs } = await simulate(load);
    const waits = waitsOfPeople(calls, ({ person }) => person !== FLOODER);
    const others = load.arrivals.filter(({ person }) => person !== undefined && person !== FLOODER);
    expect.soft([...errors.keys()]).toEqual([]);
    expect.soft(jobs.parked ?? 0, 'parked jobs').toBe(0);
    expect.soft(waits.length, 'others who were served').toBe(others.length);
    expect.soft(quantile(waits, 0.99), 'wait of others (p99)').toBeLessThan(2_000);
  },
  900_000,
);
