import { expect, it } from 'vitest';
import { runThroughBudget } from '../budget/budget-run.ts';
import { mostWithin, quantile } from '../budget/figures.ts';
import { DAY, MINUTE } from '../budget/simulation.ts';
import { twoDays } from '../budget/workloads.ts';

it('keeps the limit of the day in any 24 hours and uses it, and keeps people out of the backlog', async () => {
  const load = twoDays('sliding', 1);
  const { calls, units, receives } = await runThroughBudget(load);
  expect(calls.filter((call) => !call.served)).toEqual([]);
  expect(mostWithin(calls, DAY)).toBeLessThanOrEqual(5_000);
  expect(mostWithin(calls, MINUTE)).toBeLessThanOrEqual(120);
  for (const day of [0, 1]) {
    const counted = calls.filter(({ countedAt }) => Math.floor(countedAt / DAY) === day).length;
    expect(counted).toBeGreaterThanOrEqual(0.98 * 5_000);
  }
  const people = calls.filter(({ lane }) => lane === 'interactive').map(({ sentAt, wantedAt }) => sentAt - wantedAt);
  expect(people.length).toBeGreaterThan(500);
  expect(quantile(people, 0.99)).toBeLessThan(2_000);
  expect(units.write / calls.length).toBeLessThan(4);
  // However long they have to wait, they are not woken to be told to wait.
  expect(receives).toBeLessThan(3 * load.jobs.length);
}, 900_000);
