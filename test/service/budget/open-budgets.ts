import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll } from 'vitest';
import { createBudget, type SlotAnswer, type SlotRequest } from '../../../lib/service/budget/budget.ts';
import type { Lane } from '../../../lib/service/budget/lanes.ts';
import type { Limits } from '../../../lib/service/budget/window.ts';
import { createTable } from '../../../lib/state/table/table.ts';
import { openMemoryStack } from '../../../local/world/memory-stack.ts';

export const MINUTE = 60_000;
export const DAY = 24 * 60 * MINUTE;
export const START = Date.UTC(2026, 10, 20);
/** The longest time of a call under way: lib/service/partner/client.ts. */
export const LONGEST_FLIGHT_MS = 10_000;
export const LIMITS: Limits = { perMinute: 120, perDay: 5_000 };

/** Waits in place for any time. */
export const patient = { waitsUntil: Number.POSITIVE_INFINITY };
/** Asks again as early as allowed. */
export const atOnce = () => 0;

let connections = 0;
export const newConnection = () => `connection-${++connections}`;

/** A table for the tests of a file, with their connections' budgets. */
export function openBudgets() {
  const { variables, close } = openMemoryStack({ clock: () => START });
  Object.assign(process.env, variables);
  const { TABLE_NAME: tableName } = variables;
  afterAll(close);
  const table = createTable(new DynamoDBClient({}), tableName, () => START);
  return {
    tableName,
    table,
    /** The budget of a new connection, with a clock that stands still until the test moves it. */
    start(limits: Limits = LIMITS, options: Partial<Parameters<typeof createBudget>[0]> = {}) {
      const connection = newConnection();
      const clock = { now: START };
      const budget = createBudget({ table, clock: () => clock.now, random: atOnce, ...options });
      const ask = (lane: Lane = 'interactive', more: Partial<SlotRequest> = {}) =>
        budget.requestSlot({ connection, limits, lane, ...more });
      return { connection, clock, budget, ask };
    },
  };
}

/** Returns the granted slot, and fails without one. */
export function slotOf(answer: SlotAnswer) {
  if (!answer.granted) throw new Error(`expected a slot, and it says: ${answer.why}`);
  return answer.slot;
}

/** Returns when to ask again, and fails if a slot was granted. */
export function askAgainAt(answer: SlotAnswer): number {
  if (answer.granted || answer.askAgainAt === undefined) throw new Error('expected a time to ask again');
  return answer.askAgainAt;
}

export const granted = (answers: readonly SlotAnswer[]) => answers.filter((answer) => answer.granted);

/** Makes requests in turn. @returns their answers */
export async function askOften(times: number, ask: (nth: number) => Promise<SlotAnswer>): Promise<SlotAnswer[]> {
  const answers: SlotAnswer[] = [];
  for (let nth = 0; nth < times; nth++) answers.push(await ask(nth));
  return answers;
}
