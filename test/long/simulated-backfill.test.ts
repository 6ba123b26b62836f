import { expect, it } from 'vitest';
import { quantile } from '../service/budget/figures.ts';
import { waitsOf } from '../simulation/figures.ts';
import { simulateKeepingPromises } from '../simulation/keeps-its-promises.ts';
import { BACKFILLED, besideBackfill } from '../simulation/workloads.ts';

/** What an ideal use of the limit reaches: docs/decisions/0008-exact-budget.md. */
const MOST_OF_LIMIT = 0.966;

/** With five workers, an event may find all of them at calls of the backfill, which take two seconds here at most. */
it.each([
  { workers: 45, laterMs: 1_000 },
  { workers: 5, laterMs: 4_000 },
])(
  'people and events hardly wait longer beside a backfill, which uses what they leave, with 5+$workers workers',
  async ({ workers, laterMs }) => {
    const without = await simulateKeepingPromises(besideBackfill(workers, false, 1));
    const { result, figures } = await simulateKeepingPromises(besideBackfill(workers, true, 1));
    const p99 = (calls: typeof result.calls) =>
      quantile(
        waitsOf(calls, ({ lane }) => lane === 'background'),
        0.99,
      );
    console.log('events wait (p99)', Math.round(p99(without.result.calls)), Math.round(p99(result.calls)), 'ms');
    expect.soft(result.calls.filter(({ lane }) => lane === 'backfill')).toHaveLength(BACKFILLED);
    expect.soft(figures.people.p99Ms, 'wait of people (p99)').toBeLessThan(without.figures.people.p99Ms + 200);
    expect.soft(p99(result.calls), 'wait of events (p99)').toBeLessThan(p99(without.result.calls) + laterMs);
    // One to three slots stay free for people's commands.
    for (const part of figures.used.main?.slice(0, 2) ?? [])
      expect.soft(part).toBeGreaterThanOrEqual(0.94 * MOST_OF_LIMIT);
  },
  900_000,
);
