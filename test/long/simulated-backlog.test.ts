import { expect, it } from 'vitest';
import { countings } from '../budget/service-model.ts';
import { expectQuickAndCheap, simulateKeepingPromises } from '../simulation/keeps-its-promises.ts';
import { backlogWithPeople, HOUR, MINUTE } from '../simulation/workloads.ts';

/** The first ten minutes are the hardest: the first burst takes a minute's limit at once. */
const rows = [
  ...[5, 45].map((workers) => ({ workers, counting: 'sliding' as const, minutes: HOUR / MINUTE })),
  ...countings.filter((one) => one !== 'sliding').map((counting) => ({ workers: 45, counting, minutes: 10 })),
];

it.each(rows)(
  'uses the limit for $minutes minutes with 5+$workers workers and $counting windows',
  async (row) => {
    const load = backlogWithPeople(row.counting, row.workers, row.minutes * MINUTE, 1);
    const { figures } = await simulateKeepingPromises(load);
    for (const part of figures.used.main ?? []) expect.soft(part).toBeGreaterThanOrEqual(0.95);
    expectQuickAndCheap(figures);
  },
  900_000,
);
