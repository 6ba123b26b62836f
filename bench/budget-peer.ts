import { AsyncLocalStorage } from 'node:async_hooks';
import { CreateTableCommand, DynamoDB, type UpdateItemInput } from '@aws-sdk/client-dynamodb';
import { startDynamoDb } from '../local/dynamodb.ts';
import { seededRandom, VirtualTime } from '../test/service/budget/virtual-time.ts';
import type { Workload } from '../test/simulation/simulation.ts';
import { DAY, MINUTE } from '../test/simulation/workloads.ts';
import { type Entry, type Happened, simulate } from './peer-simulation.ts';

/** The part of `rate-limiter-flexible` that the bench uses. */
interface Limiter {
  /** Rejects with `msBeforeNext` if nothing is left. */
  consume(key: string): Promise<unknown>;
}
interface LimiterOptions {
  storeClient: object;
  tableName: string;
  tableCreated: boolean;
  ttlSet: boolean;
  keyPrefix: string;
  points: number;
  /** Seconds. */
  duration: number;
}

/** A trip to DynamoDB from a Lambda in the same region. */
const TRIP_MS = [5, 15] as const;
/** Not on a boundary of any calendar window. */
const START = Date.UTC(2026, 10, 20, 10, 0, 17);
/** Delay before a retry when two of its writes conflict. */
const AFTER_ERROR_MS = 1_000;

/** Runs a workload through `RateLimiterDynamo`, with a limiter for the minute and one for the day, as documented. */
export async function runThroughPeer(load: Workload): Promise<Happened & { writes: number }> {
  const library = new URL('peers/node_modules/rate-limiter-flexible/index.js', import.meta.url);
  const { RateLimiterDynamo } = (await import(library.href)) as {
    RateLimiterDynamo: new (options: LimiterOptions) => Limiter;
  };
  const tableName = 'limiters';
  Object.assign(process.env, { AWS_REGION: 'local', AWS_ACCESS_KEY_ID: 'LOCAL', AWS_SECRET_ACCESS_KEY: 'local' });
  const dynamoDb = await startDynamoDb({ tableName: 'unused', accessKeyId: 'LOCAL' });
  const client = new DynamoDB({ endpoint: dynamoDb.endpoint });
  await client.send(
    new CreateTableCommand({
      TableName: tableName,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: 'key', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'key', AttributeType: 'S' }],
    }),
  );
  const time = new VirtualTime(START);
  const random = seededRandom(load.seed + 1);
  let writes = 0;
  // The library also makes a write for each failed one, and DynamoDB charges for both.
  const storeClient = {
    async updateItem(input: UpdateItemInput) {
      const ms = TRIP_MS[0] + random() * (TRIP_MS[1] - TRIP_MS[0]);
      writes++;
      await time.sleep(ms / 2);
      try {
        return await time.real(() => client.updateItem(input));
      } finally {
        await time.sleep(ms / 2);
      }
    },
  };
  // The library reads the clock of the process, and here one process simulates all workers.
  const clocks = new AsyncLocalStorage<() => number>();
  const { now } = Date;
  Date.now = () => clocks.getStore()?.() ?? now();
  try {
    const happened = await simulate(load, time, ({ clock }) => {
      const about = { storeClient, tableName, tableCreated: true, ttlSet: true };
      const { perMinute, perDay } = load.limits;
      const limiters = [
        new RateLimiterDynamo({ ...about, keyPrefix: 'minute', points: perMinute, duration: MINUTE / 1_000 }),
        new RateLimiterDynamo({ ...about, keyPrefix: 'day', points: perDay, duration: DAY / 1_000 }),
      ];
      return {
        enter: ({ connection }) =>
          clocks.run(clock, async (): Promise<Entry> => {
            try {
              for (const limiter of limiters) await limiter.consume(connection);
              return { sendAt: clock(), isGood: async () => true, answered: () => {} };
            } catch (refusal) {
              return { comeBackAt: clock() + (msBeforeNext(refusal) ?? AFTER_ERROR_MS) };
            }
          }),
      };
    });
    return { ...happened, writes };
  } finally {
    Date.now = now;
    await dynamoDb.close();
  }
}

function msBeforeNext(refusal: unknown): number | undefined {
  if (typeof refusal !== 'object' || refusal === null || !('msBeforeNext' in refusal)) return undefined;
  return Number(refusal.msBeforeNext);
}
