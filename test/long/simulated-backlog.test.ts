import { expect, it } from 'vitest';
import { countings } from '../budget/service-model.ts';
import { expectQuickAndCheap, simulateKeepingPromises } from '../simulation/keeps-its-promises.ts';
import { backlogWithPeople, HOUR, MINUTE } from '../simulation/workloads.ts';

const rows = [5, 45].flatMap((workers) => [
  ...countings.map((counting) => ({ workers, counting, minutes: 10 })),
  { workers, counting: 'sliding' as const, minutes: HOUR / MINUTE },
]);

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
