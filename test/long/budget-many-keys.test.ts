import { expect, it } from 'vitest';
import { runThroughBudget } from '../budget/budget-run.ts';
import { quantile } from '../budget/figures.ts';
import { MINUTE } from '../budget/simulation.ts';
import { manyConnections } from '../budget/workloads.ts';

it('lets no connection wait for the backlog of another', async () => {
  const [quiet, busy] = [
    await runThroughBudget(manyConnections(2 * MINUTE, 0, 1)),
    await runThroughBudget(manyConnections(2 * MINUTE, 5_000, 1)),
  ].map(({ calls }) => {
    expect(calls.filter((call) => !call.served)).toEqual([]);
    // The first seconds are the workers': they receive five thousand messages before anything else.
    return calls
      .filter(({ connection, wantedAt }) => connection !== 'c0' && wantedAt > 15_000)
      .map(({ sentAt, wantedAt }) => sentAt - wantedAt);
  });
  expect(quantile(busy ?? [], 0.99)).toBeLessThan(quantile(quiet ?? [], 0.99) + 20);
}, 900_000);
