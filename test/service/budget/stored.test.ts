import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Budget, createBudget } from '../../../lib/service/budget/budget.ts';
import { readState, stateItem } from '../../../lib/service/budget/budget-item.ts';
import { BudgetUnavailable } from '../../../lib/service/budget/budget-store.ts';
import { emptyMinute, packWindow } from '../../../lib/service/budget/window.ts';
import { keys } from '../../../lib/state/table/keys.ts';
import { createTable, type Table } from '../../../lib/state/table/table.ts';
import { sizeOf } from '../../../local/world/sizes.ts';
import { askOften, DAY, granted, LIMITS, MINUTE, newConnection, openBudgets, START, slotOf } from './open-budgets.ts';

const { table, tableName, start } = openBudgets();

describe('a write', () => {
  /** A table whose next write fails, before or after it is carried out. */
  function failingTable(): { table: Table; failNext(isWritten: boolean): void } {
    let fails: { isWritten: boolean } | undefined;
    return {
      table: {
        ...table,
        async put(item, condition) {
          const { isWritten = true } = fails ?? {};
          const written = isWritten && (await table.put(item, condition));
          if (!fails) return written;
          fails = undefined;
          throw new Error('no answer');
        },
      },
      failNext(isWritten) {
        fails = { isWritten };
      },
    };
  }

  const ONCE = 'without an answer gives a slot back once at most, whether it was carried out: %s';
  it.each([true, false])(ONCE, async (isWritten) => {
    const failing = failingTable();
    const { ask } = start({ perMinute: 3, perDay: 5_000 }, { table: failing.table });
    const [first] = [slotOf(await ask()), slotOf(await ask()), slotOf(await ask())];
    first.giveUp();
    failing.failNext(isWritten);
    await expect(ask()).rejects.toThrow(BudgetUnavailable);
    const more = granted([await ask(), await ask()]);
    expect(2 + more.length + (isWritten ? 1 : 0)).toBeLessThanOrEqual(3);
  });

  it('that fails is made later: a call without an answer counts until the service may have counted it', async () => {
    const limits = { perMinute: 3, perDay: 5_000 };
    const failing = failingTable();
    const { connection, clock, budget, ask } = start(limits, { table: failing.table });
    const slot = slotOf(await ask());
    failing.failNext(false);
    await expect(slot.unanswered()).rejects.toThrow(BudgetUnavailable);
    clock.now += 90_000;
    failing.failNext(false);
    await expect(ask()).rejects.toThrow(BudgetUnavailable);
    slotOf(await ask());
    expect(await budget.view(connection, limits)).toMatchObject({ minute: { used: 2 } });
  });

  it("of a worker that stalled for an hour keeps others' calls, and counts its own from when it left", async () => {
    let freezes = false;
    const { connection, clock, budget: other, ask: askOther } = start();
    const frozen = createBudget({
      clock: () => clock.now,
      table: {
        ...table,
        async getEvenExpired(key) {
          if (freezes) {
            freezes = false;
            clock.now += 60 * MINUTE;
            slotOf(await askOther());
          }
          return table.getEvenExpired(key);
        },
      },
    });
    const ask = () => frozen.requestSlot({ connection, limits: LIMITS, lane: 'interactive' });
    const [left, leavesLate] = [slotOf(await ask()), slotOf(await ask())];
    freezes = true;
    await left.unanswered();
    await leavesLate.answered();
    expect(await other.view(connection, LIMITS)).toMatchObject({ minute: { used: 2 }, pausedUntil: null });
  });

  it('has less than 1 KB, even if no call of the minute is answered', async () => {
    const { connection, clock, ask } = start();
    for (let call = 0; call < 120; call++) {
      clock.now += 1_009;
      const answer = await ask();
      if (answer.granted) await answer.slot.unanswered();
    }
    expect(sizeOf(marshall(await table.get(keys.budget(connection))))).toBeLessThan(1_024);
  });
});

describe('stored values and clocks are input', () => {
  const time = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(START, START + 5 * DAY, 1e38));
  const named = fc.dictionary(fc.string({ minLength: 1 }), fc.array(time));
  const value = fc.oneof(time, fc.string(), fc.uint8Array(), fc.array(time), named);
  const packed = fc
    .array(fc.oneof(fc.nat(5), fc.nat(2 ** 45), fc.constant(START / 125)), { maxLength: 8 })
    .map(([first = 0, ...calls]) => packWindow({ ...emptyMinute(), first, calls }));
  const names = 'minuteCalls dayCalls eventCalls peopleCalls pausedUntil lines assumed written'.split(' ');
  const item = fc.dictionary(fc.constantFrom(...names), fc.oneof(value, packed));

  it('any item decodes, and after a minute calls are sent again', () => {
    fc.assert(
      fc.property(item, (item) => {
        const { state } = readState(item, START);
        expect(state.minute.calls.length).toBeLessThan(2_000);
        const again = readState(stateItem(state), START);
        expect(again.faults).toEqual([]);
        expect(again.state.pausedUntil).toBeLessThanOrEqual(START + DAY);
      }),
    );
  });

  it.each([-5 * DAY, -5 * 60 * MINUTE, 2 * MINUTE, 5 * 60 * MINUTE, 5 * DAY])(
    "a process with a clock %d ms ahead uses the table's time",
    async (aheadMs) => {
      const connection = newConnection();
      const wrong = createTable(new DynamoDBClient({}), tableName, () => START + aheadMs);
      const [budget, ofWrong] = [createBudget({ table }), createBudget({ table: wrong })];
      const ask = (of: Budget) => of.requestSlot({ connection, limits: LIMITS, lane: 'interactive', urgent: true });
      const slots = await askOften(120, (nth) => ask(nth % 2 === 0 ? budget : ofWrong));
      expect(granted(slots)).toHaveLength(108);
      expect(Math.abs(wrong.clock.aheadMs() - aheadMs)).toBeLessThan(1_000);
      expect(wrong.clock.isUncertain()).toBe(false);
      await ofWrong.resume(connection);
      expect((await ask(budget)).granted).toBe(false);
      const { minute, pausedUntil } = await budget.view(connection, LIMITS);
      expect({ minute, pausedUntil }).toEqual({ minute: { used: 108, limit: 120 }, pausedUntil: null });
    },
  );

  it.each([0, 3_600_000])(
    'calls that a lost table does not know count at once, if they end %d ms ahead',
    async (ms) => {
      const { connection, budget } = start();
      const lost = { from: START - DAY, to: START + ms, left: 5 };
      const counted = await budget.assumeUsed(connection, LIMITS, lost);
      expect((await budget.view(connection, LIMITS)).day.used).toBe(counted);
    },
  );

  it('a damaged budget is written again without impossible values, and keeps the calls of the day', async () => {
    const { connection, clock, budget, ask } = start();
    slotOf(await ask());
    const damaged = { ...(await table.get(keys.budget(connection))), minuteCalls: 'broken' };
    await table.put({ ...damaged, ...keys.budget(connection) });
    expect(await ask()).toMatchObject({ granted: false, obstacle: 'pause' });
    expect(await budget.view(connection, LIMITS)).toMatchObject({ minute: { used: 0 }, day: { used: 1 } });
    clock.now = START + MINUTE + 15_000;
    expect((await ask()).granted).toBe(true);
  });
});
