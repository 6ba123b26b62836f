import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBudget, type Lane, type Limits } from '../../lib/budget/budget.ts';
import { createTable, type Table } from '../../lib/table/table.ts';
import { type LocalStack, startLocalStack } from '../../local/stack.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** The longest that a call is under way before the service has counted it. */
const LONGEST_FLIGHT_MS = 10_000;

let stack: LocalStack;
let table: Table;
beforeAll(async () => {
  stack = await startLocalStack();
  Object.assign(process.env, stack.variables);
  table = createTable(new DynamoDBClient({}), stack.variables.TABLE_NAME);
});
afterAll(() => stack.close());

let connections = 0;
const newConnection = () => `connection-${++connections}`;

/** The largest number of moments within any window of that length. */
function mostWithin(moments: readonly number[], windowMs: number): number {
  const sorted = [...moments].sort((a, b) => a - b);
  let first = 0;
  return sorted.reduce((most, at, index) => {
    while ((sorted[first] ?? at) <= at - windowMs) first++;
    return Math.max(most, index - first + 1);
  }, 0);
}

describe('the budget', () => {
  it('never lets more through than the limits, in any minute or day, by whatever moment the service counts', async () => {
    const call = fc.record({
      afterMs: fc.oneof(fc.nat(2_000), fc.nat(5 * MINUTE), fc.nat(2 * DAY)),
      lane: fc.constantFrom<Lane>('interactive', 'background'),
      flightMs: fc.nat(LONGEST_FLIGHT_MS),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 60 }), async (calls) => {
        const limits: Limits = { perMinute: 4, perDay: 12 };
        const connection = newConnection();
        let now = Date.UTC(2026, 10, 20);
        const budget = createBudget(table, () => now);
        const counted: number[] = [];
        for (const { afterMs, lane, flightMs } of calls) {
          now += afterMs;
          const answer = await budget.requestSlot({ connection, limits, lane });
          if (answer.granted) counted.push(now + flightMs);
          else expect(answer.comeBackAt).toBeGreaterThan(now);
        }
        expect(mostWithin(counted, MINUTE)).toBeLessThanOrEqual(limits.perMinute);
        expect(mostWithin(counted, DAY)).toBeLessThanOrEqual(limits.perDay);
      }),
      { numRuns: 40 },
    );
  });

  it('grants what it announced: whoever comes back then gets a slot', async () => {
    const connection = newConnection();
    const limits = { perMinute: 5, perDay: 20 };
    let now = Date.UTC(2026, 10, 20);
    const budget = createBudget(table, () => now);
    let granted = 0;
    for (let asked = 0; asked < 60; asked++) {
      const answer = await budget.requestSlot({ connection, limits, lane: 'interactive' });
      if (answer.granted) granted++;
      else {
        now = answer.comeBackAt;
        expect(await budget.requestSlot({ connection, limits, lane: 'interactive' })).toEqual({ granted: true });
        granted++;
      }
    }
    expect(granted).toBe(60);
  });

  it('is shared: workers who ask at once get no more than the limit together', async () => {
    const connection = newConnection();
    const limits = { perMinute: 10, perDay: 1_000 };
    const now = Date.UTC(2026, 10, 20);
    const workers = Array.from({ length: 8 }, () => createBudget(table, () => now));
    const answers = await Promise.all(
      workers.flatMap((budget) => [1, 2].map(() => budget.requestSlot({ connection, limits, lane: 'interactive' }))),
    );
    expect(answers.filter((answer) => answer.granted)).toHaveLength(10);
  });

  it('keeps a share for people that the background cannot use up', async () => {
    const connection = newConnection();
    const limits = { perMinute: 20, perDay: 40 };
    const now = Date.UTC(2026, 10, 20);
    const budget = createBudget(table, () => now);
    const ask = (lane: Lane) => budget.requestSlot({ connection, limits, lane });
    const background = [];
    for (let asked = 0; asked < 20; asked++) background.push(await ask('background'));
    expect(background.filter((answer) => answer.granted)).toHaveLength(18);
    expect(await ask('interactive')).toEqual({ granted: true });
    expect(await budget.view(connection, limits)).toEqual({
      minute: { used: 19, limit: 20 },
      day: { used: 19, limit: 40 },
      pausedUntil: null,
    });
  });

  it('stops everyone while it is paused', async () => {
    const connection = newConnection();
    const now = Date.UTC(2026, 10, 20);
    const budget = createBudget(table, () => now);
    await budget.pause(connection, now + 5_000);
    await budget.pause(connection, now + 1_000);
    const answer = await budget.requestSlot({
      connection,
      limits: { perMinute: 9, perDay: 9 },
      lane: 'interactive',
      first: true,
    });
    expect(answer).toEqual({ granted: false, comeBackAt: now + 5_000, why: 'the connection is paused' });
  });
});
