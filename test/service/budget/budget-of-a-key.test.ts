import { expect, it } from 'vitest';
import { type Budget, createBudget } from '../../../lib/service/budget/budget.ts';
import { createStrangerShare } from '../../../lib/service/budget/stranger-share.ts';
import { askOften, DAY, granted, MINUTE, newConnection, openBudgets, START } from './open-budgets.ts';

const { table } = openBudgets();
const limits = { perMinute: 10, perDay: 5_000 };

/** A process with the keys of connections. */
const holder = (keyOf: (connection: string) => string) =>
  createBudget({
    table,
    clock: () => START,
    keyHolder: (connection) => ({ budgetId: async () => keyOf(connection), suspectKey() {} }),
  });
const ask = (budget: Budget, connection: string) => budget.requestSlot({ connection, limits, lane: 'interactive' });

it('all connections with the same key share a budget, which processes without the key know, too', async () => {
  const [one, other, key] = [newConnection(), newConnection(), newConnection()];
  const budget = holder(() => key);
  const answers = await askOften(12, (nth) => ask(budget, nth % 2 === 0 ? one : other));
  expect(granted(answers)).toHaveLength(10);
  const without = createBudget({ table, clock: () => START });
  expect(await without.idOf(one)).toBe(key);
  expect((await without.view(other, limits)).minute.used).toBe(10);
});

it('after a rotation, the budget of a key begins with the calls of the last key, which keeps its own', async () => {
  const [connection, last, next] = [newConnection(), newConnection(), newConnection()];
  const before6 = holder(() => last);
  const after = holder(() => next);
  const answers = await askOften(12, (nth) => ask(nth < 6 ? before6 : after, connection));
  expect(granted(answers)).toHaveLength(10);
  const before = createBudget({ table, clock: () => START });
  expect((await before.view(last, limits)).minute.used).toBe(6);
  let key = last;
  const suspectKey = () => {
    key = next;
  };
  const late = createBudget({ table, keyHolder: () => ({ budgetId: async () => key, suspectKey }) });
  expect(await late.idOf(connection)).toBe(next);
});

it('the budget of the first key begins with the calls of slots that were taken while it could not be read', async () => {
  const [connection, key] = [newConnection(), newConnection()];
  const unreadable = holder(() => {
    throw new Error('AWS fails');
  });
  await askOften(4, () => ask(unreadable, connection));
  const answers = await askOften(12, () =>
    ask(
      holder(() => key),
      connection,
    ),
  );
  expect(granted(answers)).toHaveLength(6);
});

it('the share of strangers ends at midnight in UTC, and names who used it in alphabetical order', async () => {
  const connection = newConnection();
  let now = START + 9 * 60 * MINUTE;
  const share = createStrangerShare(table, () => now);
  const taken = [];
  for (const login of ['zoe', 'adam', 'mallory']) taken.push(await share.take(connection, login, 2));
  expect(taken).toEqual([true, true, false]);
  expect(await share.take(connection, 'zoe', 0)).toBe(false);
  expect(await share.today(connection)).toEqual({ used: 2, who: ['adam', 'zoe'], endsAt: START + DAY });
  now = START + DAY;
  expect(await share.today(connection)).toEqual({ used: 0, who: [], endsAt: START + 2 * DAY });
});
