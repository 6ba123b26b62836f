import { afterEach, beforeEach, expect, it } from 'vitest';
import { createBudget } from '../../lib/service/budget/budget.ts';
import { keys } from '../../lib/state/table/keys.ts';
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
afterEach(() => relay.close());

/** Sweeps every minute. @returns what was counted in each */
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
  relay.log.flatMap(({ message, connection, secret }) =>
    message === 'this needs a person' ? [connection ?? secret] : [],
  );

it('a connection that is paused for five minutes is counted once, and named, also while another one is paused', async () => {
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

it('a job that is parked is counted once, also one that cannot be read, while others are parked', async () => {
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
  const named = relay.log.filter(({ message }) => message === 'job parked');
  expect(named).toMatchObject([{ connection: 'main' }, { connection: 'main' }]);
});

it('a key that the hourly check finds refused is counted once, also while that of another connection is', async () => {
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
