import { describe, expect, it } from 'vitest';
import type { Budget } from '../../../lib/service/budget/budget.ts';
import type { Lane } from '../../../lib/service/budget/lanes.ts';
import { askOften, DAY, granted, LIMITS, MINUTE, openBudgets, patient, START, slotOf } from './open-budgets.ts';

const { start } = openBudgets();

describe("people's share", () => {
  it.each<[Lane, number, boolean]>([
    ['background', 100, true],
    ['interactive', 119, false],
  ])('of the minute stays free after calls of the lane %s: it sends %i at once', async (lane, most, leavesSome) => {
    const { ask } = start();
    expect(granted(await askOften(120, () => ask(lane)))).toHaveLength(most);
    expect((await ask('interactive')).granted).toBe(leavesSome);
    // Resends leave a few slots to people.
    expect((await ask('background', { urgent: true })).granted).toBe(leavesSome);
  });

  it('of the day shrinks as the day passes', async () => {
    const { clock, ask } = start({ perMinute: 1_000, perDay: 400 });
    const most = async (lane: Lane) => {
      const answers = await askOften(400, () => ask(lane, { cameBack: true }));
      const calls = "the day's 400 calls";
      const why =
        lane === 'interactive' ? `${calls} are used up` : `${lane} calls have used up their share of ${calls}`;
      expect(answers.at(-1)).toMatchObject({ obstacle: 'day', why });
      return granted(answers).length;
    };
    expect(await most('background')).toBe(358);
    clock.now += DAY / 2;
    expect(await most('background')).toBe(20);
    expect(await most('interactive')).toBe(22);
    clock.now += DAY / 2 + 20 * MINUTE;
    expect(await most('background')).toBe(337);
  });
});

it("new jobs are behind jobs in line, and background jobs are behind people's", async () => {
  const limits = { perMinute: 20, perDay: 5_000 };
  const { connection, clock, budget, ask } = start(limits);
  const takeAll = async (lane: Lane) => {
    let answer = await ask(lane);
    while (answer.granted) answer = await ask(lane);
    return answer;
  };
  const afterOneInLine = () => ask('background', { cameBack: true });
  expect(await takeAll('background')).toMatchObject({ obstacle: 'minute' });
  await budget.planLine(connection, limits, { joined: 'background' });
  clock.now += 2 * MINUTE;
  // New jobs take the free slots, except the next ones.
  const standing = await takeAll('background');
  expect(standing).toMatchObject({ granted: false, obstacle: 'line' });
  expect(standing).not.toHaveProperty('askAgainAt');
  expect((await afterOneInLine()).granted).toBe(true);
  expect((await ask('interactive')).granted).toBe(true);
  await budget.noteLines(connection, [], clock.now);
  expect((await ask('background')).granted).toBe(true);
  await takeAll('interactive');
  await budget.planLine(connection, limits, { joined: 'interactive' });
  clock.now += 2 * MINUTE;
  expect(await takeAll('background')).toMatchObject({ granted: false, obstacle: 'line' });
  expect((await afterOneInLine()).granted).toBe(true);
});

describe('the backfill lane', () => {
  /** Sends as many calls at once as the lane may. @returns their number */
  async function sendAll(budget: Budget, connection: string, lane: Lane, perDay = LIMITS.perDay): Promise<number> {
    for (let sent = 0; ; sent++) {
      const answer = await budget.requestSlot({ connection, limits: { ...LIMITS, perDay }, lane, cameBack: true });
      if (!answer.granted) return sent;
      await slotOf(answer).answered();
    }
  }

  it('leaves more slots free than events do, and two slots at any time', async () => {
    const { connection, budget } = start();
    expect(await sendAll(budget, connection, 'backfill')).toBe(82);
    expect(await sendAll(budget, connection, 'background')).toBe(19);
    expect(await sendAll(budget, connection, 'interactive')).toBe(18);
  });

  it('is behind every waiting event, even if its jobs were called', async () => {
    const { connection, budget, ask } = start();
    await sendAll(budget, connection, 'background');
    expect(await ask('background')).toMatchObject({ granted: false });
    await budget.planLine(connection, LIMITS, { joined: 'background' });
    const called = { cameBack: true, ...patient };
    expect(await ask('backfill', called)).toMatchObject({ granted: false, obstacle: 'line' });
    expect(await ask('background', called)).toMatchObject({ granted: false, obstacle: 'minute' });
  });

  it('does not hold up events, however many of its jobs are in line', async () => {
    const { connection, budget, ask } = start();
    await sendAll(budget, connection, 'backfill');
    await budget.planLine(connection, LIMITS, { joined: 'backfill' });
    await budget.noteLines(connection, ['backfill'], START, START + 5_000);
    expect(await budget.standsFirst(connection, LIMITS, 'backfill')).toEqual({ isFound: true });
    expect(await budget.standsFirst(connection, LIMITS, 'background')).toBeUndefined();
    expect((await ask('background')).granted).toBe(true);
  });

  it('leaves the day as many calls as the busiest day of the last week had, and uses the rest', async () => {
    const perDay = 400;
    const { connection, clock, budget, ask } = start({ ...LIMITS, perDay });
    // The busiest day has 150 events.
    for (const events of [20, 150, 0]) {
      for (let event = 0; event < events; event++) {
        clock.now += 9 * MINUTE;
        await slotOf(await ask('background')).answered();
      }
      clock.now = Math.ceil(clock.now / DAY) * DAY + DAY;
    }
    let backfilled = 0;
    for (let minute = 0; minute < 10; minute++, clock.now += 2 * MINUTE) {
      backfilled += await sendAll(budget, connection, 'backfill', perDay);
    }
    expect(400 - backfilled).toBeGreaterThanOrEqual(150 + 0.2 * perDay - 5);
    expect(400 - backfilled).toBeLessThan(150 + 0.25 * perDay);
    clock.now += 2 * MINUTE;
    expect(await sendAll(budget, connection, 'background', perDay)).toBeGreaterThanOrEqual(100);
  });

  it("predicts when its calls are done, including the events' share", async () => {
    const { connection, budget, ask } = start();
    const foresee = (calls: number, ahead = 0) =>
      budget.foresee(connection, LIMITS, { lane: 'backfill', calls, ahead });
    // 80 at once, and then almost two a second.
    expect([await foresee(80), await foresee(0, 80)]).toEqual([START, START]);
    expect(Math.min(await foresee(81), await foresee(1, 80))).toBeGreaterThan(START);
    const minutes = ((await foresee(1_080)) - START) / MINUTE;
    expect(minutes).toBeGreaterThan(8.6);
    expect(minutes).toBeLessThan(10.2);
    expect(await foresee(1_000, 80)).toBeGreaterThan(await foresee(1_000));
    // More calls than a day allows.
    expect((await foresee(6_000)) - START).toBeGreaterThan(DAY);
    expect((await foresee(6_000)) - START).toBeLessThan(2 * DAY);
    await askOften(60, () => ask('background'));
    expect(await foresee(60)).toBeGreaterThan(START);
  });
});
