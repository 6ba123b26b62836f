import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { beforeEach, expect, it, vi } from 'vitest';
import { FORM } from '../../lib/state/table/form.ts';
import { type Key, keys } from '../../lib/state/table/keys.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay();
});

/** Rewrites the item as the next version may write it. @returns restores it for this version */
async function rewrite(key: Key, attribute: string): Promise<() => Promise<unknown>> {
  const { table } = relay.stores;
  const item = await table.getEvenExpired(key);
  const values = { form: FORM + 1, value: { of: 'the next version' } };
  await table.update(key, { expression: `SET #form = :form, #${attribute} = :value`, values });
  return () => table.put({ ...key, ...item });
}

/** Lets this version's worker, sweep and webhooks work for some time. */
async function workFor(ms: number): Promise<void> {
  for (const until = relay.clock.now + ms; relay.clock.now < until; relay.clock.now += 15 * MINUTE) {
    await relay.sweep();
    await relay.work();
  }
}

/** Opens an issue. @returns the id of its job */
async function opened(id = 1): Promise<string> {
  const { answer } = await relay.post('issues', issueEvent('opened', { id }));
  return String((answer.jobs as string[])[0]);
}
const edited = () => relay.post('issues', issueEvent('edited', { id: 1, title: 'New title', seconds: 60 }));

const lastOf = (metric: string) => relay.metrics.findLast((record) => metric in record)?.[metric];

it.each(['a draft', 'a record that waits'])(
  '%s of the next version waits for it, while everything else continues, and an alarm goes off',
  async (what) => {
    relay.sandbox.setFault({ kind: 'rate-limited', retryAfterSeconds: 60 });
    const id = await opened();
    if (what === 'a record that waits') await relay.work();
    relay.sandbox.clearFaults();
    const ofThisVersion = await rewrite(keys.job(id), 'input');
    await opened(2);
    await workFor(20 * HOUR);
    expect(await relay.jobs()).toMatchObject([{ status: 'succeeded' }]);
    expect(await relay.stores.table.get(keys.job(id))).toMatchObject({ form: FORM + 1 });
    expect(lastOf('ParkedJobs')).toBe(0);
    expect(lastOf('OldestOverdue')).toBeGreaterThan(900);
    await expect(relay.stores.jobs.get(id)).rejects.toThrow('a newer version of the relay wrote it');

    await ofThisVersion();
    await relay.workToTheEnd();
    expect(await relay.jobs()).toMatchObject([{ status: 'succeeded' }, { status: 'succeeded' }]);
  },
);

it('a job whose link the next version wrote waits for it, and an alarm goes off', async () => {
  await opened();
  await relay.workToTheEnd();
  const ofThisVersion = await rewrite(keys.link('issue-9001'), 'defect');
  await edited();
  await workFor(20 * HOUR);
  expect(await relay.jobs('parked')).toEqual([]);
  expect(relay.metrics.filter(({ NewerItems }) => NewerItems === 1).length).toBeGreaterThan(60);
  expect(await relay.jobs('waiting')).toHaveLength(1);
  await ofThisVersion();
  await relay.workToTheEnd();
  expect(await relay.jobs('waiting')).toEqual([]);
});

it('a job of an automation that only the next version has waits for it, and an alarm goes off', async () => {
  const id = await opened();
  const [job] = await relay.jobs();
  const become = (value: unknown) =>
    relay.stores.table.update(keys.job(id), { expression: 'SET #automation = :value', values: { value } });
  await become('of-the-next-version');
  await workFor(20 * HOUR);
  expect(await relay.jobs()).toMatchObject([{ status: 'waiting' }]);
  expect(relay.metrics.filter(({ NewerItems }) => NewerItems === 1).length).toBeGreaterThan(60);
  await become(job?.automation);
  await relay.workToTheEnd();
  expect(await relay.jobs()).toMatchObject([{ status: 'succeeded' }]);
});

it('work that has waited for a day is parked', async () => {
  const id = await opened();
  await rewrite(keys.job(id), 'input');
  await workFor(25 * HOUR);
  expect(await relay.stores.table.get(keys.job(id))).toMatchObject({ status: 'parked', form: FORM + 1 });
  expect(lastOf('ParkedJobs')).toBe(1);
});

it('a job that is older than a day waits for the link of the next version, too, and for a day', async () => {
  await opened();
  await relay.workToTheEnd();
  await rewrite(keys.link('issue-9001'), 'defect');
  await edited();
  relay.clock.now += 25 * HOUR;
  await workFor(20 * HOUR);
  expect(await relay.jobs('parked')).toEqual([]);
  await workFor(5 * HOUR);
  expect(await relay.jobs('parked')).toHaveLength(1);
});

it('a sweep writes nothing for records of the next version: after a rollback there may be thousands', async () => {
  for (const issue of [1, 2, 3]) await rewrite(keys.job(await opened(issue)), 'input');
  relay.clock.now += 10 * MINUTE;
  const send = vi.spyOn(DynamoDBClient.prototype, 'send');
  await relay.sweep();
  const written = send.mock.calls.filter(([{ input }]) => JSON.stringify(input).includes('"job#'));
  send.mockRestore();
  expect(written).toEqual([]);
});

it('records of the next version at the head of a waiting line do not hold up those behind them', async () => {
  relay = await startRelay({ config: exampleConfig({}, { connection: { limits: { perMinute: 2, perDay: 5_000 } } }) });
  for (let id = 1; id <= 12; id++) await opened(id);
  await relay.work();
  const standing = (await relay.jobs('waiting')).toSorted((a, b) => a.createdAt - b.createdAt);
  const head = standing.filter(({ line, slotAt }) => line !== undefined && slotAt === undefined).slice(0, 6);
  for (const { id } of head) await rewrite(keys.job(id), 'input');
  expect(head).toHaveLength(6);
  await workFor(2 * HOUR);
  expect(await relay.jobs('succeeded')).toHaveLength(6);
  for (const { id, generation } of head)
    expect(await relay.stores.table.get(keys.job(id))).toMatchObject({ generation });
});
