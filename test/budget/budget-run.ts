import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BudgetUnavailable, createBudget } from '../../lib/budget/budget.ts';
import { createTable } from '../../lib/table/table.ts';
import { startDynamoDb } from '../../local/dynamodb.ts';
import { countedTable, type Units } from './counted-table.ts';
import { type Gate, type Happened, simulate, type Workload } from './simulation.ts';
import { seededRandom, VirtualTime } from './virtual-time.ts';

/** A trip to DynamoDB from a Lambda in the same region. */
export const TRIP_MS = [5, 15] as const;
/** As in lib/jobs/partner-calls.ts. */
const UNAVAILABLE_PAUSE_MS = 30_000;
/** Not on a boundary of any calendar window. */
export const START = Date.UTC(2026, 10, 20, 10, 0, 17);

/** Runs a workload through the real budget on the embedded DynamoDB, each worker with a budget of its own. */
export async function runThroughBudget(load: Workload): Promise<Happened & { units: Units }> {
  const tableName = 'budgets';
  // The SDK signs every request, so it wants these even where nobody checks them.
  Object.assign(process.env, { AWS_REGION: 'local', AWS_ACCESS_KEY_ID: 'LOCAL', AWS_SECRET_ACCESS_KEY: 'local' });
  const dynamoDb = await startDynamoDb(tableName);
  try {
    const time = new VirtualTime(START);
    const real = createTable(new DynamoDBClient({ endpoint: dynamoDb.endpoint }), tableName);
    const { table, units } = countedTable(real, time, seededRandom(load.seed + 1), TRIP_MS);
    const happened = await simulate(load, time, ({ clock, random, sleep }): Gate => {
      const budget = createBudget(table, clock, random, sleep);
      return {
        async enter(caller) {
          try {
            const answer = await budget.requestSlot({ ...caller, limits: load.limits });
            return answer.granted ? answer.slot : answer;
          } catch (error) {
            if (!(error instanceof BudgetUnavailable)) throw error;
            return { comeBackAt: clock() + UNAVAILABLE_PAUSE_MS };
          }
        },
      };
    });
    return { ...happened, units };
  } finally {
    await dynamoDb.close();
  }
}
