import { describe, expect, it } from 'vitest';
import type { Lane } from '../../../lib/service/budget/lanes.ts';
import { keys } from '../../../lib/state/table/keys.ts';
import { askOften, LIMITS, MINUTE, openBudgets, START } from './open-budgets.ts';

const { table, start } = openBudgets();

it('one caller at a time moves the line, and learns when slots open', async () => {
  const { connection, clock, budget, ask } = start();
  await askOften(101, () => {
    clock.now += 500;
    return ask('background');
  });
  const plan = await budget.planLine(connection, LIMITS, { joined: 'background' });
  expect(await budget.planLine(connection, LIMITS)).toBeUndefined();
  const times = Array.from({ length: 120 }, (_, ahead) => plan?.slotTime('background', ahead));
  const known = times.filter((time) => time !== undefined);
  // Twenty slots stay free for people.
  expect(known).toHaveLength(100);
  expect(known).toEqual(known.toSorted((a, b) => a - b));
  expect(known[0]).toBe(clock.now);
  // Calls under way are not expected to take long.
  expect(known.at(-1)).toBeLessThanOrEqual(clock.now + MINUTE + 2_000);
  expect(await budget.planLine(connection, LIMITS, { atOnce: true })).toBeDefined();
});

describe('only the job on its way moves the line', () => {
  /** A line of the lane `background`, in the state that its first job leaves. */
  async function lineWith(comesInMs: number | undefined) {
    const { connection, clock, budget, ask } = start();
    const move = async (joined?: Lane) => (await budget.planLine(connection, LIMITS, { joined })) !== undefined;
    expect(await move('background')).toBe(true);
    const note = (inMs?: number) =>
      budget.noteLines(connection, ['background'], clock.now, inMs === undefined ? undefined : clock.now + inMs);
    expect(await note(comesInMs)).toBeUndefined();
    return { connection, clock, budget, ask, move, note };
  }

  it.each([
    ['in 5 s', 5_000, 5_000],
    ['in 50 s, but 15 s is the longest', 50_000, 15_000],
    ['no job comes', undefined, 0],
  ])('%s', async (_, comesInMs, movesInMs) => {
    const { clock, move } = await lineWith(comesInMs);
    expect(await move()).toBe(movesInMs === 0);
    clock.now += movesInMs - 1;
    expect(await move('background')).toBe(false);
    clock.now += 1;
    expect(await move()).toBe(movesInMs > 0);
  });

  it('empty lines cost no write', async () => {
    const { connection, budget } = start();
    for (let minute = 0; minute < 2; minute++) {
      expect(await budget.planLine(connection, LIMITS)).toBeDefined();
      expect(await budget.noteLines(connection, [], START)).toBeUndefined();
    }
    expect(await table.get(keys.budget(connection))).toBeUndefined();
  });

  it('the first job in a lane moves the lines at once', async () => {
    const { move } = await lineWith(5_000);
    expect([await move('background'), await move('further'), await move('further')]).toEqual([false, true, false]);
  });

  it('a mover that finds no job reads again until the index shows the former first job', async () => {
    const { clock, move, note } = await lineWith(5_000);
    clock.now += 4_000;
    expect(await move('background')).toBe(false);
    const stoodAt = clock.now;
    clock.now += 1_000;
    expect(await move()).toBe(true);
    expect(await note()).toBe(stoodAt + 2_000);
    clock.now = stoodAt + 2_000;
    expect(await move()).toBe(true);
    expect(await note()).toBeUndefined();
  });

  it('a new job joins the line at once only if a mover will find it there', async () => {
    const { clock, connection, budget, ask } = await lineWith(5_000);
    await askOften(120, () => ask());
    const standsFirst = () => budget.standsFirst(connection, LIMITS, 'background');
    expect(await standsFirst()).toEqual({ isFound: true });
    clock.now += 3_001;
    expect(await standsFirst()).toBeUndefined();
  });
});

it('a new job joins the line while four calls of its connection are under way, even if slots are free', async () => {
  const { clock, connection, budget, ask } = start(LIMITS, { sharesWorkers: true });
  const standsFirst = async () => {
    clock.now += 2_001;
    return budget.standsFirst(connection, LIMITS, 'background');
  };
  const slots = await askOften(3, () => ask());
  expect(await standsFirst()).toBeUndefined();
  slots.push(...(await askOften(1, () => ask())));
  expect(await standsFirst()).toEqual({ isFound: false });
  for (const { granted, ...answer } of slots) if (granted && 'slot' in answer) await answer.slot.unanswered();
  expect(await standsFirst()).toBeUndefined();
});

it.each([
  [1_999, 1],
  [2_000, 2],
])('a process that looks at the lines again %i ms later has read the budget %i times', async (laterMs, reads) => {
  let read = 0;
  const { connection, clock, budget } = start(LIMITS, {
    table: {
      ...table,
      getEvenExpired(key) {
        if (key.pk === keys.budget(connection).pk) read += 1;
        return table.getEvenExpired(key);
      },
    },
  });
  await budget.standsFirst(connection, LIMITS, 'background');
  clock.now += laterMs;
  await budget.standsFirst(connection, LIMITS, 'background');
  expect(read).toBe(reads);
});
