import { expect, it } from 'vitest';
import { mostWithin } from '../service/budget/figures.ts';
import { countedIn } from '../simulation/figures.ts';
import { expectQuickAndCheap, simulateKeepingPromises } from '../simulation/keeps-its-promises.ts';
import { DAY, twoDays } from '../simulation/workloads.ts';

it('keeps and uses the limit of each of two days', async () => {
  const load = twoDays(1);
  const { result, figures } = await simulateKeepingPromises(load);
  for (const calls of countedIn(result.calls, load, 'main', DAY)) {
    expect.soft(calls, 'calls in a day').toBeGreaterThanOrEqual(0.95 * load.limits.perDay);
  }
  const answered = result.calls.flatMap(({ sentAt, answeredAt }) => (answeredAt ? { sentAt, answeredAt } : []));
  expect.soft(mostWithin(answered, DAY), 'calls in any 24 hours').toBeLessThanOrEqual(load.limits.perDay);
  expectQuickAndCheap(figures);
}, 900_000);
