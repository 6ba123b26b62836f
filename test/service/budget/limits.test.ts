import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBudget } from '../../../lib/service/budget/budget.ts';
import type { Lane } from '../../../lib/service/budget/lanes.ts';
import { mostWithin } from './figures.ts';
import {
  askAgainAt,
  askOften,
  atOnce,
  DAY,
  granted,
  LONGEST_FLIGHT_MS,
  MINUTE,
  newConnection,
  openBudgets,
  patient,
  START,
  slotOf,
} from './open-budgets.ts';

/** How long after its longest flight the service may count an unanswered call. */
const UNANSWERED_MS = MINUTE;

const { table, start } = openBudgets();

/** A call counts from the end of its eighth of a second. */
const endOfBucket = (at: number) => Math.floor(at / 125) * 125 + 125;

describe('the limits', () => {
  it('are never exceeded in any minute or day, in any way of counting', async () => {
    const call = fc.record({
      // Most calls come at the first allowed moment, when they could exceed a limit.
      after: fc.oneof(
        { weight: 6, arbitrary: fc.constant('when told' as const) },
        { weight: 2, arbitrary: fc.nat(2_000) },
        fc.nat(5 * MINUTE),
        fc.nat(2 * DAY),
      ),
      /** How much of its grace a call uses before it is sent. */
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
        // The budget learns of an answer only after it has granted other calls.
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
          const { budget, errorMs } = workers[worker] ?? expect.fail();
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
    'of a %s are kept with the greatest differences of clocks, the longest calls and no answers',
    async (...row) => {
      const [, limits, windowMs] = row;
      const { connection, clock } = start();
      // Just before the end of one of the day's buckets.
      clock.now = START - 13_000;
      const workers = [-500, 500].map((errorMs) => ({
        errorMs,
        budget: createBudget({ table, clock: () => clock.now + errorMs, random: atOnce }),
      }));
      const sent: { sentAt: number; answeredAt: number }[] = [];
      while (sent.length < 6) {
        const { errorMs, budget } = workers[sent.length % 2] ?? expect.fail();
        const answer = await budget.requestSlot({ connection, limits, lane: 'interactive', ...patient });
        if (!answer.granted) {
          clock.now = askAgainAt(answer) - errorMs;
          continue;
        }
        // The slow call uses its whole grace; the fast one is sent at once.
        const sentAt = (errorMs < 0 ? answer.slot.goodUntil : answer.slot.sendAt) - errorMs;
        sent.push({ sentAt, answeredAt: sentAt + LONGEST_FLIGHT_MS });
      }
      expect(mostWithin(sent, windowMs)).toBe(1);
    },
  );
});

describe('a slot', () => {
  it('counts until a minute after the answer of its call, or for the longest flight without one', async () => {
    const { clock, ask } = start({ perMinute: 2, perDay: 100 });
    const again = () => ask('interactive', patient);
    const first = slotOf(await again());
    clock.now += 400;
    await first.answered();
    slotOf(await again());
    const opensAt = endOfBucket(START + 400 + 1_000) + MINUTE;
    clock.now = opensAt - 5_001;
    expect(await again()).toMatchObject({ granted: false, obstacle: 'minute' });
    clock.now += 1;
    expect(slotOf(await again()).sendAt).toBe(opensAt);
    expect(await again()).toMatchObject({ granted: false, obstacle: 'minute' });
    clock.now = endOfBucket(START + 400 + 1_000 + LONGEST_FLIGHT_MS + 1_000) + MINUTE;
    expect(slotOf(await again()).sendAt).toBe(clock.now);
  });

  it('returns to the budget if it was not used', async () => {
    const { clock, ask } = start({ perMinute: 1, perDay: 1 });
    const slot = slotOf(await ask());
    expect(await slot.isGood()).toBe(true);
    clock.now = slot.goodUntil + 1;
    expect(await slot.isGood()).toBe(false);
    slot.giveUp();
    expect((await ask()).granted).toBe(true);
  });

  it.each(Array.from({ length: 40 }, (_, round) => round + 1))(
    'goes to one of simultaneous workers, and back once, though answers are lost (%i)',
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

  it('is no longer valid for any caller once the connection is paused', async () => {
    const limits = { perMinute: 1, perDay: 9 };
    const { connection, clock, budget, ask } = start(limits);
    const urgently = () => ask('interactive', { urgent: true, ...patient });
    await slotOf(await urgently()).answered();
    const opensAt = endOfBucket(clock.now + 1_000) + MINUTE;
    clock.now = opensAt - 700;
    const slot = slotOf(await urgently());
    expect(slot.sendAt).toBe(opensAt);
    const expectedAt = clock.now + 30_000;
    await budget.pause(connection, limits, 30_000);
    await budget.pause(connection, limits, 1_000);
    clock.now = slot.sendAt;
    expect(await slot.isGood()).toBe(false);
    slot.giveUp();
    const why = 'the connection is paused';
    expect(await urgently()).toMatchObject({ granted: false, obstacle: 'pause', why, expectedAt });
    await budget.resume(connection);
    expect((await urgently()).granted).toBe(true);
    await budget.pause(connection, limits, 2 * DAY);
    expect(await budget.view(connection, limits)).toMatchObject({ pausedUntil: clock.now + DAY });
  });
});

it('the view of a budget shows both windows, all lanes and the next slot', async () => {
  const limits = { perMinute: 20, perDay: 400 };
  const { connection, clock, budget, ask } = start(limits);
  await askOften(20, () => ask('background'));
  const view = await budget.view(connection, limits);
  expect(view).toMatchObject({
    minute: { used: 17, limit: 20 },
    day: { used: 17, limit: 400 },
    pausedUntil: null,
    lanes: { interactive: { left: 2, nextSlotAt: clock.now }, background: { left: 0 } },
  });
  const { nextSlotAt } = view.lanes.background;
  expect(nextSlotAt).toBeGreaterThan(clock.now);
  clock.now = nextSlotAt;
  expect((await ask('background', { cameBack: true })).granted).toBe(true);
});
