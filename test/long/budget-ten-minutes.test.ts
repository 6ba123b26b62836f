import { expect, it } from 'vitest';
import { runThroughBudget } from '../budget/budget-run.ts';
import { mostWithin, quantile } from '../budget/figures.ts';
import { countings } from '../budget/service-model.ts';
import { MINUTE } from '../budget/simulation.ts';
import { backlogWithPeople } from '../budget/workloads.ts';

// All of it is virtual time, and the same for the same seed.
it.each(countings)('keeps and uses the limits over ten minutes of a service with %s windows', async (counting) => {
  const load = backlogWithPeople(counting, 10 * MINUTE, 1 + countings.indexOf(counting));
  const { calls, units, receives } = await runThroughBudget(load);
  expect(calls.filter((call) => !call.served)).toEqual([]);
  // By whatever moment of its flight the service counts a call.
  expect(mostWithin(calls, MINUTE)).toBeLessThanOrEqual(120);
  const used = calls.filter((call) => call.countedAt < 10 * MINUTE).length / (10 * 120);
  expect(used).toBeGreaterThanOrEqual(0.95);
  const people = calls.filter(({ lane }) => lane === 'interactive').map(({ sentAt, wantedAt }) => sentAt - wantedAt);
  expect(people.length).toBeGreaterThan(80);
  expect(quantile(people, 0.99)).toBeLessThan(2_000);
  expect(units.write / calls.length).toBeLessThan(4);
  expect(units.largestItemBytes).toBeLessThanOrEqual(1_024);
  // Each job of the backlog comes once to be told when to come back; those that were sent came about once more.
  expect(receives).toBeLessThan(load.jobs.length + 2.5 * calls.length);
});
