import { expect } from 'vitest';
import { type Figures, figuresOf, inOneLine } from './figures.ts';
import { type Result, simulate, type Workload } from './simulation.ts';

/** Simulates a workload, prints its figures, and expects what must hold for every workload. */
export async function simulateKeepingPromises(load: Workload): Promise<{ result: Result; figures: Figures }> {
  const result = await simulate(load);
  const figures = figuresOf(result, load);
  console.log(inOneLine(figures));
  const people = load.arrivals.filter(({ lane }) => lane === 'interactive');
  expect.soft([...result.errors.keys()]).toEqual([]);
  expect.soft(figures.refused, 'calls refused with 429').toBe(0);
  expect.soft(result.stranded.slice(0, 3), 'nobody on the way to a line with jobs').toEqual([]);
  expect.soft(figures.mostInMinute, 'calls in a minute').toBeLessThanOrEqual(load.limits.perMinute);
  expect.soft(figures.people.count, 'people served').toBe(people.length);
  expect.soft(figures.deadLetters, 'dead letters').toBe(0);
  expect.soft(figures.jobs.parked ?? 0, 'parked jobs').toBe(0);
  expect.soft(figures.largestBudgetBytes, 'bytes of the budget item').toBeLessThanOrEqual(1_024);
  // Lambda kills a longer run, of the worker and of the sweep.
  expect.soft(figures.longestRunMs, 'longest run of a worker').toBeLessThan(60_000);
  expect.soft(figures.longestSweepMs, 'longest sweep').toBeLessThan(55_000);
  return { result, figures };
}

/**
 * Expects short waits for people, and a low cost per call, for a backlog of any length.
 * @param mostWrites the most writes of the budget for a call
 */
export function expectQuickAndCheap(figures: Figures, mostWrites = 3): void {
  expect.soft(figures.people.p99Ms, 'wait of people (p99)').toBeLessThan(2_000);
  expect.soft(figures.budgetWritesPerCall, 'budget writes a call').toBeLessThanOrEqual(mostWrites);
  expect.soft(figures.receivesPerCall, 'receives a call').toBeLessThanOrEqual(4);
}
