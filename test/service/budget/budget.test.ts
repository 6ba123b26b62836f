import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { type AssumedLimit, learn } from '../../../lib/service/budget/assumed-limit.ts';
import { type Budget, createBudget, type SlotAnswer } from '../../../lib/service/budget/budget.ts';
import { readState, stateItem } from '../../../lib/service/budget/budget-item.ts';
import { BudgetUnavailable } from '../../../lib/service/budget/budget-store.ts';
import { createGate, type Reached } from '../../../lib/service/budget/gate.ts';
import type { Lane } from '../../../lib/service/budget/lanes.ts';
import { createStrangerShare } from '../../../lib/service/budget/stranger-share.ts';
import { add, emptyMinute, packWindow } from '../../../lib/service/budget/window.ts';
import { keys } from '../../../lib/state/table/keys.ts';
import { createTable, type Table } from '../../../lib/state/table/table.ts';
import { openTable } from '../../relay-table.ts';
import { sizeOf } from '../../simulation/sizes.ts';
import { mostWithin } from './figures.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** The longest that a call is under way: lib/service/partner/client.ts. */
const LONGEST_FLIGHT_MS = 10_000;
/** How much later than that the service may count a call that got no answer. */
const UNANSWERED_MS = MINUTE;

const START = Date.UTC(2026, 10, 20);

const { name: tableName, close } = openTable(() => START);
const table = createTable(new DynamoDBClient({}), tableName, () => START);
afterAll(close);

/** A call counts from the end of its eighth of a second. */
const endOfBucket = (at: number) => Math.floor(at / 125) * 125 + 125;

let connections = 0;
const newConnection = () => `connection-${++connections}`;

/** The slot, where one was granted. */
function slotOf(answer: SlotAnswer) {
  if (!answer.granted) throw new Error(`expected a slot, and it says: ${answer.why}`);
  return answer.slot;
}

/** When to ask again, where no slot was granted. */
function askAgainAt(answer: SlotAnswer): number {
  if (answer.granted || answer.askAgainAt === undefined) throw new Error('expected a time to ask again');
  return answer.askAgainAt;
}

/** Waits in place for as long as it takes. */
const patient = { waitsUntil: Number.POSITIVE_INFINITY };
/** Asks again as early as it may. */
const atOnce = () => 0;

const granted = (answers: readonly SlotAnswer[]) => answers.filter((answer) => answer.granted);

describe('the budget', () => {
  it('the budget never exceeds the limits in any minute or day, however the service counts', async () => {
    const call = fc.record({
      // Most come at the first moment at which they are let in, for that is when a limit could be exceeded.
      after: fc.oneof(
        { weight: 6, arbitrary: fc.constant('when told' as const) },
        { weight: 2, arbitrary: fc.nat(2_000) },
        fc.nat(5 * MINUTE),
        fc.nat(2 * DAY),
      ),
      /** How much of its grace a call uses up before it is sent. */
      lateMs: fc.constantFrom(0, 1_000),
      lane: fc.constantFrom<Lane>('interactive', 'background', 'backfill'),
      urgent: fc.boolean(),
      cameBack: fc.boolean(),
      flightMs: fc.oneof(fc.nat(50), fc.nat(LONGEST_FLIGHT_MS), fc.constant(LONGEST_FLIGHT_MS)),
      end: fc.constantFrom('answered', 'unanswered', 'the process ends'),
      worker: fc.nat(2),
    });
    const clockErrors = fc.tuple(...[0, 1, 2].map(() => fc.integer({ min: -500, max: 500 })));
    const limits = fc.record({ perMinute: fc.integer({ min: 1, max: 6 }), perDay: fc.integer({ min: 1, max: 14 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 120 }), clockErrors, limits, async (calls, clockErrors, limits) => {
        const connection = newConnection();
        let now = START;
        const workers = clockErrors.map((errorMs) => ({
          errorMs,
          budget: createBudget({ table, clock: () => now + errorMs, random: atOnce }),
        }));
        const sent: { sentAt: number; answeredAt: number }[] = [];
        // An answer is told when it is there, which is after other calls have been granted.
        const underWay: { endsAt: number; end: () => void | Promise<void> }[] = [];
        let told = now;
        for (const { after, lateMs, flightMs, end, worker, ...what } of calls) {
          const until = after === 'when told' ? Math.max(now, told) : now + after;
          for (const { endsAt, end } of underWay.splice(0).sort((a, b) => a.endsAt - b.endsAt)) {
            now = Math.max(now, endsAt);
            if (endsAt <= until) await end();
            else underWay.push({ endsAt, end });
          }
          now = until;
          const { budget, errorMs } = workers[worker] ?? {
            budget: createBudget({ table, clock: () => now }),
            errorMs: 0,
          };
          const answer = await budget.requestSlot({ connection, limits, ...what, ...patient });
          if (!answer.granted) {
            expect(askAgainAt(answer)).toBeGreaterThan(now + errorMs);
            told = askAgainAt(answer) - errorMs;
            continue;
          }
          const { slot } = answer;
          const sentAt = slot.sendAt - errorMs + lateMs;
          expect(sentAt).toBeGreaterThanOrEqual(now);
          if (end === 'unanswered') {
            sent.push({ sentAt, answeredAt: sentAt + LONGEST_FLIGHT_MS + UNANSWERED_MS });
            underWay.push({ endsAt: sentAt + LONGEST_FLIGHT_MS, end: slot.unanswered });
          } else {
            sent.push({ sentAt, answeredAt: sentAt + flightMs });
            if (end === 'answered') underWay.push({ endsAt: sentAt + flightMs, end: slot.answered });
          }
        }
        expect(mostWithin(sent, MINUTE)).toBeLessThanOrEqual(limits.perMinute);
        expect(mostWithin(sent, DAY)).toBeLessThanOrEqual(limits.perDay);
      }),
      { numRuns: 150 },
    );
  });

  it.each([
    ['minute', { perMinute: 1, perDay: 100 }, MINUTE],
    ['day', { perMinute: 100, perDay: 1 }, DAY],
  ] as const)(
    'keeps the %s where clocks differ most, calls take longest and nobody is answered',
    async (_, limits, windowMs) => {
      const connection = newConnection();
      // Just before a bucket of the day's ends.
      let now = START - 13_000;
      const [slow, fast] = [-500, 500].map((errorMs) => ({
        errorMs,
        budget: createBudget({ table, clock: () => now + errorMs, random: atOnce }),
      }));
      const sent: { sentAt: number; answeredAt: number }[] = [];
      for (const worker of [slow, fast, slow, fast, slow, fast]) {
        if (!worker) continue;
        for (;;) {
          const answer = await worker.budget.requestSlot({ connection, limits, lane: 'interactive', ...patient });
          if (!answer.granted) {
            now = askAgainAt(answer) - worker.errorMs;
            continue;
          }
          // The slow one uses its grace up; the fast one sends at once.
          const sentAt = (worker === slow ? answer.slot.goodUntil : answer.slot.sendAt) - worker.errorMs;
          sent.push({ sentAt, answeredAt: sentAt + LONGEST_FLIGHT_MS });
          break;
        }
      }
      expect(mostWithin(sent, windowMs)).toBe(1);
    },
  );

  it('the budget grants a slot at the announced time', async () => {
    const connection = newConnection();
    const limits = { perMinute: 5, perDay: 20 };
    let now = START;
    const budget = createBudget({ table, clock: () => now, random: atOnce });
    for (let asked = 0; asked < 60; asked++) {
      const ask = () => budget.requestSlot({ connection, limits, lane: 'interactive', ...patient });
      const answer = await ask();
      if (answer.granted) continue;
      now = askAgainAt(answer);
      now = slotOf(await ask()).sendAt;
    }
  });

  it('a call counts from its slot until a minute after its answer, or for the longest flight without an answer', async () => {
    const connection = newConnection();
    const limits = { perMinute: 2, perDay: 100 };
    let now = START;
    const budget = createBudget({ table, clock: () => now });
    const ask = () => budget.requestSlot({ connection, limits, lane: 'interactive', ...patient });
    const first = slotOf(await ask());
    now += 400;
    await first.answered();
    slotOf(await ask());
    const opensAt = endOfBucket(START + 400 + 1_000) + MINUTE;
    now = opensAt - 5_001;
    expect(await ask()).toMatchObject({ granted: false, obstacle: 'minute' });
    now += 1;
    expect(slotOf(await ask()).sendAt).toBe(opensAt);
    expect(await ask()).toMatchObject({ granted: false, obstacle: 'minute' });
    now = endOfBucket(START + 400 + 1_000 + LONGEST_FLIGHT_MS + 1_000) + MINUTE;
    expect(slotOf(await ask()).sendAt).toBe(now);
  });

  it('an unused slot returns to the budget', async () => {
    const connection = newConnection();
    const limits = { perMinute: 1, perDay: 1 };
    let now = START;
    const budget = createBudget({ table, clock: () => now });
    const slot = slotOf(await budget.requestSlot({ connection, limits, lane: 'interactive' }));
    expect(await slot.isGood()).toBe(true);
    now = slot.goodUntil + 1;
    expect(await slot.isGood()).toBe(false);
    slot.giveUp();
    expect((await budget.requestSlot({ connection, limits, lane: 'interactive' })).granted).toBe(true);
  });

  it.each(Array.from({ length: 40 }, (_, round) => round + 1))(
    'simultaneous workers together get the limit and give slots back once, though answers are lost (%i)',
    async () => {
      const connection = newConnection();
      const limits = { perMinute: 10, perDay: 1_000 };
      const workers = Array.from({ length: 8 }, () => createBudget({ table, clock: () => START, random: atOnce }));
      const askTwice = () =>
        Promise.all(
          workers.flatMap((one) => [1, 2].map(() => one.requestSlot({ connection, limits, lane: 'interactive' }))),
        );
      const first = granted(await askTwice());
      expect(first).toHaveLength(10);
      for (const answer of first.slice(0, 4)) slotOf(answer).giveUp();
      await Promise.all(workers.map((one) => one.flush(connection)));
      expect(granted([...(await askTwice()), ...(await askTwice())])).toHaveLength(4);
    },
  );

  it('either lane sends a hundred calls at once after a quiet minute, and the rest stays reserved for people', async () => {
    const limits = { perMinute: 120, perDay: 5_000 };
    for (const [lane, most] of [
      ['background', 100],
      ['interactive', 119],
    ] as const) {
      const connection = newConnection();
      const budget = createBudget({ table, clock: () => START });
      const ask = (lane: Lane, urgent = false) => budget.requestSlot({ connection, limits, lane, urgent });
      const answers = [];
      for (let asked = 0; asked < 120; asked++) answers.push(await ask(lane));
      expect(granted(answers)).toHaveLength(most);
      expect((await ask('interactive')).granted).toBe(lane === 'background');
      // Resends leave a few slots to people.
      expect((await ask('background', true)).granted).toBe(lane === 'background');
    }
  });

  it('a share of the day is reserved for people, and shrinks as the day passes', async () => {
    const connection = newConnection();
    const limits = { perMinute: 1_000, perDay: 400 };
    let now = START;
    const budget = createBudget({ table, clock: () => now });
    const askOften = async (lane: Lane) => {
      const answers = [];
      for (let asked = 0; asked < 400; asked++) {
        const answer = await budget.requestSlot({ connection, limits, lane, cameBack: true });
        if (!answer.granted) {
          const calls = "the day's 400 calls";
          const why =
            lane === 'interactive' ? `${calls} are used up` : `what the lane ${lane} may use of ${calls} is used up`;
          expect(answer).toMatchObject({ obstacle: 'day', why });
          break;
        }
        answers.push(answer);
      }
      return granted(answers).length;
    };
    expect(await askOften('background')).toBe(358);
    now += DAY / 2;
    expect(await askOften('background')).toBe(20);
    expect(await askOften('interactive')).toBe(22);
    now += DAY / 2 + 20 * MINUTE;
    expect(await askOften('background')).toBe(337);
  });

  it('new jobs go behind jobs in line, and background jobs behind people', async () => {
    const connection = newConnection();
    const limits = { perMinute: 20, perDay: 5_000 };
    let now = START;
    const budget = createBudget({ table, clock: () => now, random: atOnce });
    const ask = (lane: Lane, cameBack = false) => budget.requestSlot({ connection, limits, lane, cameBack });
    const takeAll = async (lane: Lane) => {
      let answer = await ask(lane);
      while (answer.granted) answer = await ask(lane);
      return answer;
    };
    expect(await takeAll('background')).toMatchObject({ obstacle: 'minute' });
    await budget.planLine(connection, limits, { stood: 'background' });
    now += 2 * MINUTE;
    // New jobs take what is free, but for the next slots.
    const standing = await takeAll('background');
    expect(standing).toMatchObject({ granted: false, obstacle: 'line' });
    expect(standing).not.toHaveProperty('askAgainAt');
    expect((await ask('background', true)).granted).toBe(true);
    expect((await ask('interactive')).granted).toBe(true);
    await budget.noteLines(connection, [], now);
    expect((await ask('background')).granted).toBe(true);
    await takeAll('interactive');
    await budget.planLine(connection, limits, { stood: 'interactive' });
    now += 2 * MINUTE;
    expect(await takeAll('background')).toMatchObject({ granted: false, obstacle: 'line' });
    expect((await ask('background', true)).granted).toBe(true);
  });

  it('one caller at a time moves the line on, and learns when slots open', async () => {
    const connection = newConnection();
    const limits = { perMinute: 120, perDay: 5_000 };
    let now = START;
    const budget = createBudget({ table, clock: () => now, random: atOnce });
    for (let asked = 0; asked < 101; asked++) {
      now += 500;
      await budget.requestSlot({ connection, limits, lane: 'background' });
    }
    const plan = await budget.planLine(connection, limits, { stood: 'background' });
    expect(await budget.planLine(connection, limits)).toBeUndefined();
    const times = Array.from({ length: 120 }, (_, ahead) => plan?.slotTime('background', ahead));
    const known = times.filter((time) => time !== undefined);
    // Twenty stay free for people.
    expect(known).toHaveLength(100);
    expect(known).toEqual(known.toSorted((a, b) => a - b));
    expect(known[0]).toBe(now);
    // No call under way is expected to take long.
    expect(known.at(-1)).toBeLessThanOrEqual(now + MINUTE + 2_000);
    expect(await budget.planLine(connection, limits, { atOnce: true })).toBeDefined();
  });

  describe('nobody but who is on the way moves the line on', () => {
    const limits = { perMinute: 120, perDay: 5_000 };
    /** A line of the lane `background`, as its first job leaves it. */
    async function lineWith(comesInMs: number | undefined) {
      const connection = newConnection();
      const clock = { now: START };
      const budget = createBudget({ table, clock: () => clock.now, random: atOnce });
      const move = async (stood?: Lane) => (await budget.planLine(connection, limits, { stood })) !== undefined;
      expect(await move('background')).toBe(true);
      const note = (inMs?: number) =>
        budget.noteLines(connection, ['background'], clock.now, inMs === undefined ? undefined : clock.now + inMs);
      expect(await note(comesInMs)).toBeUndefined();
      return { connection, clock, budget, move, note };
    }

    it.each([
      ['in 5 s', 5_000, 5_000],
      ['in 50 s, but 15 s is the longest', 50_000, 15_000],
      ['nobody', undefined, 0],
    ])('%s', async (_, comesInMs, movesInMs) => {
      const { clock, move } = await lineWith(comesInMs);
      expect(await move()).toBe(movesInMs === 0);
      clock.now += movesInMs - 1;
      expect(await move('background')).toBe(false);
      clock.now += 1;
      expect(await move()).toBe(movesInMs > 0);
    });

    it('empty lines cost no write', async () => {
      const connection = newConnection();
      const budget = createBudget({ table });
      for (let minute = 0; minute < 2; minute++) {
        expect(await budget.planLine(connection, limits)).toBeDefined();
        expect(await budget.noteLines(connection, [], START)).toBeUndefined();
      }
      expect(await table.get(keys.budget(connection))).toBeUndefined();
    });

    it('who stands first in a lane moves the lines on at once', async () => {
      const { move } = await lineWith(5_000);
      expect([await move('background'), await move('further'), await move('further')]).toEqual([false, true, false]);
    });

    it('who finds nobody looks again until the index shows who stood there last', async () => {
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

    it('a new job stands in line at once only if who comes will find it there', async () => {
      const { clock, connection, budget } = await lineWith(5_000);
      for (let asked = 0; asked < 120; asked++) await budget.requestSlot({ connection, limits, lane: 'interactive' });
      const mustStand = () => budget.mustStand(connection, limits, 'background');
      expect(await mustStand()).toBe(true);
      clock.now += 3_001;
      expect(await mustStand()).toBe(false);
    });
  });

  it('a pause stops all callers, even those that hold a later slot', async () => {
    const connection = newConnection();
    const limits = { perMinute: 1, perDay: 9 };
    let now = START;
    const budget = createBudget({ table, clock: () => now });
    const ask = () => budget.requestSlot({ connection, limits, lane: 'interactive', urgent: true, ...patient });
    await slotOf(await ask()).answered();
    const opensAt = endOfBucket(now + 1_000) + MINUTE;
    now = opensAt - 700;
    const slot = slotOf(await ask());
    expect(slot.sendAt).toBe(opensAt);
    const pausedAt = now;
    await budget.pause(connection, limits, 30_000);
    await budget.pause(connection, limits, 1_000);
    now = slot.sendAt;
    expect(await slot.isGood()).toBe(false);
    slot.giveUp();
    const answer = await ask();
    expect(answer).toMatchObject({ granted: false, obstacle: 'pause', why: 'the connection is paused' });
    expect(answer).toMatchObject({ expectedAt: pausedAt + 30_000 });
    await budget.resume(connection);
    expect((await ask()).granted).toBe(true);
    await budget.pause(connection, limits, 2 * DAY);
    expect(await budget.view(connection, limits)).toMatchObject({ pausedUntil: now + DAY });
  });

  describe('the lane of backfills', () => {
    const limits = { perMinute: 120, perDay: 5_000 };
    /** Sends as many calls as the lane may at once. @returns how many */
    async function sendAll(budget: Budget, connection: string, lane: Lane, perDay = limits.perDay): Promise<number> {
      for (let sent = 0; ; sent++) {
        const answer = await budget.requestSlot({ connection, limits: { ...limits, perDay }, lane, cameBack: true });
        if (!answer.granted) return sent;
        await slotOf(answer).answered();
      }
    }

    it('leaves more free than events do, and two slots at any time', async () => {
      const connection = newConnection();
      const budget = createBudget({ table, clock: () => START });
      expect(await sendAll(budget, connection, 'backfill')).toBe(82);
      expect(await sendAll(budget, connection, 'background')).toBe(19);
      expect(await sendAll(budget, connection, 'interactive')).toBe(18);
    });

    it('stands behind every event that waits, even if it was called', async () => {
      const connection = newConnection();
      const budget = createBudget({ table, clock: () => START });
      await sendAll(budget, connection, 'background');
      const waiting = await budget.requestSlot({ connection, limits, lane: 'background' });
      expect(waiting).toMatchObject({ granted: false });
      await budget.planLine(connection, limits, { stood: 'background' });
      const ask = (lane: Lane) => budget.requestSlot({ connection, limits, lane, cameBack: true, ...patient });
      expect(await ask('backfill')).toMatchObject({ granted: false, obstacle: 'line' });
      expect(await ask('background')).toMatchObject({ granted: false, obstacle: 'minute' });
    });

    it('does not hold up events, however many of its jobs stand in line', async () => {
      const connection = newConnection();
      const budget = createBudget({ table, clock: () => START });
      await sendAll(budget, connection, 'backfill');
      await budget.planLine(connection, limits, { stood: 'backfill' });
      await budget.noteLines(connection, ['backfill'], START, START + 5_000);
      expect(await budget.mustStand(connection, limits, 'backfill')).toBe(true);
      expect(await budget.mustStand(connection, limits, 'background')).toBe(false);
      expect((await budget.requestSlot({ connection, limits, lane: 'background' })).granted).toBe(true);
    });

    it('leaves the day as many calls as the busiest day of the last week had, and has the rest', async () => {
      const connection = newConnection();
      let now = START;
      const budget = createBudget({ table, clock: () => now });
      const perDay = 400;
      // The busiest day has 150 events.
      for (const events of [20, 150, 0]) {
        for (let event = 0; event < events; event++) {
          now += 9 * MINUTE;
          const asked = { connection, limits: { ...limits, perDay }, lane: 'background' as const };
          await slotOf(await budget.requestSlot(asked)).answered();
        }
        now = Math.ceil(now / DAY) * DAY + DAY;
      }
      let backfilled = 0;
      for (let minute = 0; minute < 10; minute++, now += 2 * MINUTE) {
        backfilled += await sendAll(budget, connection, 'backfill', perDay);
      }
      expect(400 - backfilled).toBeGreaterThanOrEqual(150 + 0.2 * perDay - 5);
      expect(400 - backfilled).toBeLessThan(150 + 0.25 * perDay);
      now += 2 * MINUTE;
      expect(await sendAll(budget, connection, 'background', perDay)).toBeGreaterThanOrEqual(100);
    });

    it('foresees when its calls are done, with what events take meanwhile', async () => {
      const connection = newConnection();
      const budget = createBudget({ table, clock: () => START });
      const foresee = (calls: number, ahead = 0) =>
        budget.foresee(connection, limits, { lane: 'backfill', calls, ahead });
      // 80 at once, and then nearly two a second.
      expect([await foresee(80), await foresee(0, 80)]).toEqual([START, START]);
      expect(Math.min(await foresee(81), await foresee(1, 80))).toBeGreaterThan(START);
      const minutes = ((await foresee(1_080)) - START) / MINUTE;
      expect(minutes).toBeGreaterThan(8.6);
      expect(minutes).toBeLessThan(10.2);
      expect(await foresee(1_000, 80)).toBeGreaterThan(await foresee(1_000));
      // More than a day has.
      expect((await foresee(6_000)) - START).toBeGreaterThan(DAY);
      expect((await foresee(6_000)) - START).toBeLessThan(2 * DAY);
      for (let call = 0; call < 60; call++) await budget.requestSlot({ connection, limits, lane: 'background' });
      expect(await foresee(60)).toBeGreaterThan(START);
    });
  });

  it('the view shows both windows, all lanes and the next slot', async () => {
    const connection = newConnection();
    const limits = { perMinute: 20, perDay: 400 };
    let now = START;
    const budget = createBudget({ table, clock: () => now });
    for (let asked = 0; asked < 20; asked++) await budget.requestSlot({ connection, limits, lane: 'background' });
    const view = await budget.view(connection, limits);
    expect(view).toMatchObject({
      minute: { used: 17, limit: 20 },
      day: { used: 17, limit: 400 },
      pausedUntil: null,
      lanes: {
        interactive: { left: 2, nextSlotAt: now },
        background: { left: 0 },
      },
    });
    const { nextSlotAt } = view.lanes.background;
    expect(nextSlotAt).toBeGreaterThan(now);
    now = nextSlotAt;
    expect((await budget.requestSlot({ connection, limits, lane: 'background', cameBack: true })).granted).toBe(true);
  });

  /** A table whose next write fails, after or before it is carried out. */
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

  it.each([true, false])(
    'a slot is given back once at most if the write has no answer and was carried out: %s',
    async (isWritten) => {
      const connection = newConnection();
      const limits = { perMinute: 3, perDay: 5_000 };
      const failing = failingTable();
      const budget = createBudget({ table: failing.table, clock: () => START, random: atOnce });
      const ask = () => budget.requestSlot({ connection, limits, lane: 'interactive' });
      const [first] = [slotOf(await ask()), slotOf(await ask()), slotOf(await ask())];
      first.giveUp();
      failing.failNext(isWritten);
      await expect(ask()).rejects.toThrow(BudgetUnavailable);
      const more = granted([await ask(), await ask()]);
      expect(2 + more.length + (isWritten ? 1 : 0)).toBeLessThanOrEqual(limits.perMinute);
    },
  );

  it('a call without an answer counts until the service may have counted it, even if it cannot be noted at once', async () => {
    const connection = newConnection();
    const limits = { perMinute: 3, perDay: 5_000 };
    let now = START;
    const failing = failingTable();
    const budget = createBudget({ table: failing.table, clock: () => now, random: atOnce });
    const slot = slotOf(await budget.requestSlot({ connection, limits, lane: 'interactive' }));
    failing.failNext(false);
    await expect(slot.unanswered()).rejects.toThrow(BudgetUnavailable);
    now += 90_000;
    failing.failNext(false);
    const again = () => budget.requestSlot({ connection, limits, lane: 'interactive' });
    await expect(again()).rejects.toThrow(BudgetUnavailable);
    slotOf(await again());
    expect(await budget.view(connection, limits)).toMatchObject({ minute: { used: 2 } });
  });

  it('a worker that stood still for an hour leaves the calls of others counted, and counts its own from when it left', async () => {
    const connection = newConnection();
    const limits = { perMinute: 20, perDay: 5_000 };
    let now = START;
    let freezes = false;
    const budgetIn = (one: Table) => createBudget({ table: one, clock: () => now });
    const ask = async (one: Budget) => slotOf(await one.requestSlot({ connection, limits, lane: 'interactive' }));
    const other = budgetIn(table);
    const frozen = budgetIn({
      ...table,
      async getEvenExpired(key) {
        if (freezes) {
          freezes = false;
          now += 60 * MINUTE;
          await ask(other);
        }
        return table.getEvenExpired(key);
      },
    });
    const [left, leavesLate] = [await ask(frozen), await ask(frozen)];
    freezes = true;
    await left.unanswered();
    await leavesLate.answered();
    expect(await other.view(connection, limits)).toMatchObject({ minute: { used: 2 }, pausedUntil: null });
  });

  it('keeps its item below 1 KB, even if no call of the minute is answered', async () => {
    const connection = newConnection();
    const limits = { perMinute: 120, perDay: 5_000 };
    let now = START;
    const budget = createBudget({ table, clock: () => now, random: atOnce });
    for (let call = 0; call < 120; call++) {
      now += 1_009;
      const slot = await budget.requestSlot({ connection, limits, lane: 'interactive' });
      if (slot.granted) await slot.slot.unanswered();
    }
    const item = await table.get(keys.budget(connection));
    expect(sizeOf(marshall(item))).toBeLessThan(1_024);
  });

  describe('stored values and clocks are input', () => {
    const limits = { perMinute: 120, perDay: 5_000 };
    const time = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(START, START + 5 * DAY, 1e38));
    const value = fc.oneof(
      time,
      fc.string(),
      fc.uint8Array(),
      fc.array(time),
      fc.dictionary(fc.string({ minLength: 1 }), fc.array(time)),
    );
    const packed = fc
      .array(fc.oneof(fc.nat(5), fc.nat(2 ** 45), fc.constant(START / 125)), { maxLength: 8 })
      .map(([first = 0, ...calls]) => packWindow({ ...emptyMinute(), first, calls }));
    const names = [
      ...['minuteCalls', 'dayCalls', 'eventCalls', 'peopleCalls', 'pausedUntil', 'lines', 'assumed', 'written'],
    ];
    const item = fc.dictionary(fc.constantFrom(...names), fc.oneof(value, packed));

    it('any item at all decodes, and after a minute calls are sent again', () => {
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
      'a process with a clock %d ms ahead goes by the time of the table',
      async (aheadMs) => {
        const connection = newConnection();
        const own = () => START + aheadMs;
        const wrong = createTable(new DynamoDBClient({}), tableName, own);
        const [budget, ofWrong] = [createBudget({ table }), createBudget({ table: wrong })];
        const ask = (of: Budget) => of.requestSlot({ connection, limits, lane: 'interactive', urgent: true });
        const slots = [];
        for (let asked = 0; asked < 120; asked++) slots.push(await ask(asked % 2 === 0 ? budget : ofWrong));
        expect(granted(slots)).toHaveLength(108);
        expect(Math.abs(wrong.clock.aheadMs() - aheadMs)).toBeLessThan(1_000);
        expect(wrong.clock.isUncertain()).toBe(false);
        await ofWrong.resume(connection);
        expect((await ask(budget)).granted).toBe(false);
        const { minute, pausedUntil } = await budget.view(connection, limits);
        expect({ minute, pausedUntil }).toEqual({ minute: { used: 108, limit: 120 }, pausedUntil: null });
      },
    );

    it.each([0, 3_600_000])(
      'calls that a lost table does not know count at once, if they end %d ms ahead',
      async (ms) => {
        const connection = newConnection();
        const budget = createBudget({ table, clock: () => START });
        const lost = { from: START - DAY, to: START + ms, left: 5 };
        const counted = await budget.assumeUsed(connection, limits, lost);
        expect((await budget.view(connection, limits)).day.used).toBe(counted);
      },
    );

    it('a damaged budget is written again without what cannot be, and keeps the calls of the day', async () => {
      const connection = newConnection();
      let now = START;
      const budget = createBudget({ table, clock: () => now });
      slotOf(await budget.requestSlot({ connection, limits, lane: 'interactive' }));
      const damaged = { ...(await table.get(keys.budget(connection))), minuteCalls: 'broken' };
      await table.put({ ...damaged, ...keys.budget(connection) });
      const refused = await budget.requestSlot({ connection, limits, lane: 'interactive' });
      expect(refused).toMatchObject({ granted: false, obstacle: 'pause' });
      expect(await budget.view(connection, limits)).toMatchObject({ minute: { used: 0 }, day: { used: 1 } });
      now = START + MINUTE + 15_000;
      expect((await budget.requestSlot({ connection, limits, lane: 'interactive' })).granted).toBe(true);
    });
  });

  it.each([
    [1_999, 1],
    [2_000, 2],
  ])('a process that looks at the lines again %i ms later has read the budget %i times', async (laterMs, reads) => {
    const connection = newConnection();
    let now = START;
    let read = 0;
    const counting: Table = {
      ...table,
      getEvenExpired(key) {
        if (key.pk === keys.budget(connection).pk) read += 1;
        return table.getEvenExpired(key);
      },
    };
    const budget = createBudget({ table: counting, clock: () => now });
    await budget.mustStand(connection, { perMinute: 120, perDay: 5_000 }, 'background');
    now += laterMs;
    await budget.mustStand(connection, { perMinute: 120, perDay: 5_000 }, 'background');
    expect(read).toBe(reads);
  });

  it('the share of strangers ends at midnight in UTC, and names who used it in the order of the alphabet', async () => {
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

  describe('the budget of a key', () => {
    const limits = { perMinute: 10, perDay: 5_000 };
    /** A process that has keys. */
    const holder = (keyOf: (connection: string) => string, clock = () => START) =>
      createBudget({
        table,
        clock,
        keyHolder: (connection) => ({ budgetId: async () => keyOf(connection), suspectKey() {} }),
      });
    const ask = (budget: Budget, connection: string) => budget.requestSlot({ connection, limits, lane: 'interactive' });

    it('is shared by all connections with the key, and known to processes without it', async () => {
      const [one, other, key] = [newConnection(), newConnection(), newConnection()];
      const budget = holder(() => key);
      const answers = [];
      for (let asked = 0; asked < 12; asked++) answers.push(await ask(budget, asked % 2 === 0 ? one : other));
      expect(granted(answers)).toHaveLength(10);
      const without = createBudget({ table, clock: () => START });
      expect(await without.idOf(one)).toBe(key);
      expect((await without.view(other, limits)).minute.used).toBe(10);
    });

    it('begins with the calls of the last key after a rotation, which keeps its own', async () => {
      const [connection, last, next] = [newConnection(), newConnection(), newConnection()];
      const answers = [];
      for (const key of [last, next])
        for (const budget of Array.from({ length: 6 }, () => holder(() => key)))
          answers.push(await ask(budget, connection));
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
  });

  it('learns from 429s what the service allows, and tries more later', async () => {
    const connection = newConnection();
    const limits = { perMinute: 120, perDay: 5_000 };
    let now = START;
    const budget = createBudget({ table, clock: () => now });
    const assumed = async () => (await budget.view(connection, limits)).assumed?.perMinute;
    for (let sent = 0; sent < 80; sent++) {
      await slotOf(await budget.requestSlot({ connection, limits, lane: 'interactive', urgent: true })).answered();
      now += 500;
    }
    await budget.flush(connection);
    now += 1_500;
    // Of 80 answered calls, the lowest that counts is kept, with a margin.
    expect(await budget.pause(connection, limits)).toBe(now + 5_000);
    expect(await assumed()).toBe(76);
    now += 6_000;
    // A second 429 has the same cause: the service wants a longer pause.
    expect(await budget.pause(connection, limits)).toBe(now + MINUTE);
    expect(await assumed()).toBe(76);
    now += 10 * MINUTE;
    expect(await assumed()).toBeGreaterThan(76);
    expect(await assumed()).toBeLessThan(90);
    now += 30 * MINUTE;
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
  ])('what a 429 says about the limit of 120: %s', (_, last, served, learned) => {
    const minute = emptyMinute();
    for (const at of [START - 50_000, START - 1_000]) add(minute, at, served / 2);
    add(minute, START + 1_000, 50);
    const known = last && { perMinute: 80, at: START - 5 * MINUTE, holdMs: MINUTES_8, ...last };
    const says = learn(known, minute, 120, START);
    if (learned) expect(says).toMatchObject({ at: START, ...learned });
    else expect(says).toBeUndefined();
  });

  describe('through a gate', () => {
    const limits = { perMinute: 10, perDay: 100 };
    /** @param late how long the first slot takes to be granted, and the first request to be prepared */
    async function sendThrough(late: { grantMs?: number; prepareMs?: number }, reached?: Reached) {
      const connection = newConnection();
      let now = START;
      let asked = 0;
      const clock = () => now;
      const budget = createBudget({ table, clock });
      const request = async () => {
        asked++;
        const answer = await budget.requestSlot({ connection, limits, lane: 'interactive' });
        if (asked === 1) now += late.grantMs ?? 0;
        return answer;
      };
      const wait = async () => {};
      const gate = createGate({ clock, request, wait, sleep: async () => {}, reached: () => reached ?? 'answered' });
      const sent = gate.send(await gate.take(), async () => {
        if (asked === 1) now += late.prepareMs ?? 0;
        return () => (reached ? Promise.reject(new Error(reached)) : Promise.resolve('sent'));
      });
      await (reached ? expect(sent).rejects.toThrow(reached) : expect(sent).resolves.toBe('sent'));
      await budget.flush(connection);
      const used: number[] = [];
      for (const later of [0, 65_000, 65_000]) {
        now += later;
        used.push((await budget.view(connection, limits)).minute.used);
      }
      return { asked, used };
    }

    it.each([
      ['is answered', undefined, [1, 0, 0]],
      ['is refused', 'answered', [1, 0, 0]],
      ['may have left', 'no answer', [1, 1, 0]],
      ['never left', 'never left', [0, 0, 0]],
    ] as const)('a call that %s counts as long as the service may count it', async (_, reached, used) => {
      expect(await sendThrough({}, reached)).toEqual({ asked: 1, used });
    });

    it.each([
      [{ prepareMs: 1_000 }, 1],
      [{ prepareMs: 1_001 }, 2],
      [{ grantMs: 1_000 }, 1],
      [{ grantMs: 1_001 }, 2],
    ])('a call that is late for its slot, by %o, gives it up and takes another: %i in all', async (late, asked) => {
      expect(await sendThrough(late)).toEqual({ asked, used: [1, 0, 0] });
    });
  });

  it('that cannot be written grants nothing', async () => {
    const limits = { perMinute: 9, perDay: 9 };
    const unwritable = createBudget({
      table: { ...table, put: () => Promise.reject(new Error('no')) },
      clock: () => START,
    });
    const asked = unwritable.requestSlot({ connection: newConnection(), limits, lane: 'interactive' });
    await expect(asked).rejects.toThrow(BudgetUnavailable);
  });
});
