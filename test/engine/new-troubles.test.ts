import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { beforeEach, expect, it, vi } from 'vitest';
import { deadLetters, tellNewTroubles } from '../../lib/engine/operate/new-troubles.ts';
import { openStores } from '../../lib/runtime.ts';
import { createBudget } from '../../lib/service/budget/budget.ts';
import { keys } from '../../lib/state/table/keys.ts';
import { startHttpStandIn } from '../http-stand-in.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';

const MINUTE = 60_000;
const limits = { perMinute: 120, perDay: 5_000 };

let relay: TestRelay;
beforeEach(async () => {
  const config = exampleConfig();
  const { main } = config.connections;
  if (!main) throw new Error('expected a connection');
  relay = await startRelay({ config: { ...config, connections: { main, first: main, second: main } } });
});

/** Sweeps every minute. @returns the metric's values */
async function sweeps(minutes: number, metric: string): Promise<number[]> {
  const counted: number[] = [];
  for (let minute = 0; minute < minutes; minute++) {
    counted.push(await countedBy('job-sweep', metric));
    relay.clock.now += MINUTE;
  }
  return counted;
}

async function countedBy(slug: string, metric: string): Promise<number> {
  relay.metrics.splice(0);
  await relay.fire(slug);
  return relay.metrics.reduce((sum, record) => sum + Number(record[metric] ?? 0), 0);
}

const told = () =>
  relay.log.flatMap(({ message, connection, secret }) => (message === 'new trouble' ? [connection ?? secret] : []));

it('a connection that is paused for five minutes is counted once and named, even while another one is paused', async () => {
  const budget = createBudget({ table: relay.stores.table });
  const pause = (connection: string) => budget.pause(connection, limits, 60 * MINUTE);
  await pause('first');
  expect(await sweeps(8, 'NewlyPaused')).toEqual([0, 0, 0, 0, 0, 1, 0, 0]);
  await pause('second');
  expect(await sweeps(8, 'NewlyPaused')).toEqual([0, 0, 0, 0, 0, 1, 0, 0]);
  expect(told()).toEqual(['first', 'second']);
  await budget.resume('first');
  expect(await sweeps(1, 'NewlyPaused')).toEqual([0]);
  await pause('first');
  expect(await sweeps(7, 'NewlyPaused')).toEqual([0, 0, 0, 0, 0, 1, 0]);
});

it('a parked job is counted once while others are parked, even if it is unreadable', async () => {
  const park = async (id: number) => {
    await relay.post('issues', issueEvent('opened', { id }));
    const [job] = await relay.jobs('queued');
    const change = { expression: 'SET #attempts = :value', values: { value: 'many' } };
    await relay.stores.table.update(keys.job(job?.id ?? ''), change);
  };
  await park(1);
  await relay.work();
  expect(await sweeps(3, 'JobsParked')).toEqual([0, 1, 0]);
  await park(2);
  await relay.work();
  expect(await sweeps(3, 'JobsParked')).toEqual([0, 1, 0]);
  const named = relay.log.filter(({ message }) => message === 'newly parked job');
  expect(named).toMatchObject([{ connection: 'main' }, { connection: 'main' }]);
});

it("a key that the hourly check finds refused is counted once, even while another connection's key is refused", async () => {
  const [key] = relay.sandbox.keys;
  const enter = (connection: string, secretKey = key?.secretKey) =>
    relay.stack.secrets.put(`${relay.stack.secretPrefix}partner/${connection}`, {
      ...key,
      baseUrl: relay.sandbox.url,
      secretKey,
    });
  const check = () => {
    relay.clock.now += 60 * MINUTE;
    return countedBy('credential-check', 'NewlyInvalid');
  };
  enter('first', 'wrong');
  expect([await check(), await check()]).toEqual([1, 0]);
  enter('second', 'wrong');
  expect([await check(), await check()]).toEqual([1, 0]);
  expect(told()).toEqual(['partner/first', 'partner/second']);
  enter('first');
  expect(await check()).toBe(0);
  enter('first', 'wrong');
  expect(await check()).toBe(1);
});

it('every count returns to 0 in the next minute: with a gap, CloudWatch would keep the alarm, and hide the next one', async () => {
  const news = ['NewlyPaused', 'NewlyRefused', 'NewlyFailing', 'NewlyDead', 'NewlyInvalid', 'JobsParked'];
  await relay.fire('job-sweep');
  for (const metric of news) expect(relay.metrics.filter((record) => record[metric] === 0)).toHaveLength(1);
});

it('a connection that cannot be read does not hide the troubles of others', async () => {
  await createBudget({ table: relay.stores.table }).pause('second', limits, 60 * MINUTE);
  const { send } = DynamoDBClient.prototype;
  const spy = vi.spyOn(DynamoDBClient.prototype, 'send').mockImplementation(function (
    this: DynamoDBClient,
    ...sent: unknown[]
  ) {
    if (JSON.stringify(sent[0]).includes('breaker#first')) throw new Error('throttled');
    return Reflect.apply(send, this, sent);
  });
  let told = 0;
  for (let minute = 0; minute < 8; minute++, relay.clock.now += MINUTE) {
    relay.metrics.splice(0);
    await expect(relay.fire('job-sweep')).rejects.toThrow('throttled');
    told += relay.metrics.reduce((sum, { NewlyPaused = 0 }) => sum + Number(NewlyPaused), 0);
  }
  spy.mockRestore();
  expect(told).toBe(1);
});

it('a dead letter is not new again after somebody has looked at it', async () => {
  let hidden = 0;
  const sqs = await startHttpStandIn(() => {
    const [visible, notVisible] = [1 - hidden, hidden].map(String);
    const counts = { ApproximateNumberOfMessages: visible, ApproximateNumberOfMessagesNotVisible: notVisible };
    return { status: 200, body: { Attributes: counts } };
  });
  const [INTERACTIVE_QUEUE_URL, BACKGROUND_QUEUE_URL] = [
    `${sqs.url}/0/interactive.fifo`,
    `${sqs.url}/0/background.fifo`,
  ];
  const queues = { AWS_ENDPOINT_URL_SQS: sqs.url, INTERACTIVE_QUEUE_URL, BACKGROUND_QUEUE_URL };
  const environment = { ...relay.runtime.environment, ...queues };
  const stores = openStores({ environment, clock: () => relay.clock.now });
  const teller = { ...relay.runtime, table: relay.stores.table };
  const told = async () => {
    relay.metrics.splice(0);
    await tellNewTroubles('dead', await deadLetters(stores.sqs, stores.queueUrls), teller);
    return relay.metrics.length;
  };
  const first = await told();
  hidden = 1;
  await told();
  hidden = 0;
  expect([first, await told()]).toEqual([2, 0]);
});
