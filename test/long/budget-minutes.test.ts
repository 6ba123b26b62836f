import { describe, expect, it } from 'vitest';
import { runThroughBudget } from '../budget/budget-run.ts';
import { mostWithin, quantile } from '../budget/figures.ts';
import { countings } from '../budget/service-model.ts';
import { MINUTE } from '../budget/simulation.ts';
import { backlogWithPeople, burst } from '../budget/workloads.ts';

// Minutes of virtual time; the others have hours and days.
describe('the budget in a simulation', () => {
  it('sends a hundred calls at once after a quiet minute', async () => {
    const { calls } = await runThroughBudget(burst('sliding', 1));
    expect(calls.filter((call) => call.served)).toHaveLength(100);
    // Forty-five workers take two seconds for a hundred calls of one second each.
    expect(Math.max(...calls.map((call) => call.sentAt))).toBeLessThan(5_000);
  });

  it('is never refused, and lets nobody wait who is in a hurry', async () => {
    const [counting = 'sliding'] = countings;
    const { calls } = await runThroughBudget(backlogWithPeople(counting, 2 * MINUTE, 1));
    expect(calls.filter((call) => !call.served)).toEqual([]);
    expect(mostWithin(calls, MINUTE)).toBeLessThanOrEqual(120);
    expect(calls.length).toBeGreaterThan(0.95 * 240);
    const waits = calls.filter(({ lane }) => lane === 'interactive').map(({ sentAt, wantedAt }) => sentAt - wantedAt);
    expect(quantile(waits, 0.9)).toBeLessThan(2_000);
  });
});
