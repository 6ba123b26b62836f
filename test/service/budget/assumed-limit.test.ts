import { expect, it } from 'vitest';
import { type AssumedLimit, learn } from '../../../lib/service/budget/assumed-limit.ts';
import { add, emptyMinute } from '../../../lib/service/budget/window.ts';
import { DAY, LIMITS, MINUTE, openBudgets, START, slotOf } from './open-budgets.ts';

const { start } = openBudgets();

it('the budget learns from 429s what the service allows, and later tries more', async () => {
  const { connection, clock, budget, ask } = start();
  const assumed = async () => (await budget.view(connection, LIMITS)).assumed?.perMinute;
  for (let sent = 0; sent < 80; sent++) {
    await slotOf(await ask('interactive', { urgent: true })).answered();
    clock.now += 500;
  }
  await budget.flush(connection);
  clock.now += 1_500;
  // 80 calls were answered. The budget keeps the lowest possible limit, with a margin.
  expect(await budget.pause(connection, LIMITS)).toBe(clock.now + 5_000);
  expect(await assumed()).toBe(76);
  clock.now += 6_000;
  // A second 429 has the same cause, but asks for a longer pause.
  expect(await budget.pause(connection, LIMITS)).toBe(clock.now + MINUTE);
  expect(await assumed()).toBe(76);
  clock.now += 10 * MINUTE;
  expect(await assumed()).toBeGreaterThan(76);
  expect(await assumed()).toBeLessThan(90);
  clock.now += 30 * MINUTE;
  expect(await assumed()).toBeUndefined();
});

const MINUTES_8 = 8 * MINUTE;
it.each<[string, Partial<AssumedLimit> | undefined, number, Partial<AssumedLimit> | undefined]>([
  ['the first', undefined, 80, { perMinute: 76, holdMs: MINUTES_8 }],
  ['one after more calls than are allowed', undefined, 200, { perMinute: 114 }],
  ['one after few calls', undefined, 20, { perMinute: 60 }],
  ['one after too few calls', undefined, 11, undefined],
  ['one of the same cause', { at: START - MINUTE + 1 }, 80, undefined],
  ['one while the limit is held', { at: START - MINUTE }, 80, { perMinute: 76, holdMs: 2 * MINUTES_8 }],
  ['one while the limit grows', { at: START - 12 * MINUTE }, 97, { perMinute: 92, holdMs: 2 * MINUTES_8 }],
  ['one after the longest time', { holdMs: 64 * MINUTE }, 80, { holdMs: 64 * MINUTE }],
  ['one after the limit has grown to the configured one', { at: START - DAY }, 80, { holdMs: MINUTES_8 }],
])('the meaning of a 429 for the limit of 120: %s', (_, last, served, learned) => {
  const minute = emptyMinute();
  for (const at of [START - 50_000, START - 1_000]) add(minute, at, served / 2);
  add(minute, START + 1_000, 50);
  const known = last && { perMinute: 80, at: START - 5 * MINUTE, holdMs: MINUTES_8, ...last };
  const says = learn(known, minute, 120, START);
  if (learned) expect(says).toMatchObject({ at: START, ...learned });
  else expect(says).toBeUndefined();
});
