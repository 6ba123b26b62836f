import { beforeEach, describe, expect, it } from 'vitest';
import { keys } from '../../lib/state/table/keys.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';

let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay();
});

/** Replaces the queues, whose messages are lost. */
function emptyQueues(): void {
  for (const queue of relay.stack.queues) {
    for (let message = queue.receive(); message; message = queue.receive()) queue.delete(message.receiptHandle);
  }
}

/** A worker claims a job, and dies. @returns the id of the job */
async function claimed(): Promise<string> {
  const [{ id } = expect.fail('there is no job')] = await relay.jobs();
  await relay.stores.jobs.claim(id, 1, 'dead', relay.clock.now + 30_000);
  return id;
}

const changed = (id: string, change: Parameters<TestRelay['stores']['table']['update']>[1]) =>
  relay.stores.table.update(keys.job(id), change);
const NEVER = { expression: 'SET #lease.#until = :never', values: { never: 8e15 } };

/** A defect exists, and the job that updates it sleeps in the queue. */
async function startWithSleepingUpdate(): Promise<void> {
  relay = await startRelay();
  await relay.post('issues', issueEvent('opened', { id: 1 }));
  await relay.work();
  relay.sandbox.setFault({ kind: 'server-error', operation: '/defects/update', times: 1 });
  await relay.post('issues', issueEvent('edited', { id: 1, title: 'another title', seconds: 1 }));
  await relay.work();
}

describe('the sweep', () => {
  it.each([
    ['whose message was lost, or never sent', async () => '', 60_000],
    ['claimed by a worker that died', claimed, 30_000],
    ['claimed under a lease that never ends', async () => changed(await claimed(), NEVER), 30_000],
  ])('queues a job that would not continue by itself: %s', async (_, lose, afterMs) => {
    await relay.post('issues', issueEvent('opened'));
    emptyQueues();
    await lose();
    relay.clock.now += afterMs - 1;
    await relay.sweep();
    await relay.work();
    expect(await relay.jobs('succeeded')).toEqual([]);
    relay.clock.now += 1;
    await relay.sweep();
    await relay.work();
    expect(await relay.jobs('succeeded')).toMatchObject([{ generation: 2 }]);
  });

  it.each([
    ['waiting', 'SET #status = :value, #wakeAt = :ahead, #dueAt = :ahead'],
    ['waiting in line', 'SET #status = :value, #wakeAt = :ahead, #line = :line, #slotAt = :ahead'],
    ['queued', 'SET #wakeAt = :ahead'],
    ['queued after it was created', 'SET #wakeAt = :ahead, #createdAt = :ahead'],
    ['running', 'SET #status = :value, #wakeAt = :ahead, #lease = :lease'],
  ])('carries out a job with a time years ahead: %s', async (name, expression) => {
    await relay.post('issues', issueEvent('opened'));
    emptyQueues();
    const [job] = await relay.jobs();
    const ahead = relay.clock.now + 5 * 365 * 86_400_000;
    const [value] = name.split(' ');
    const values = { value, ahead, line: 'example#background', lease: { owner: 'dead', since: ahead, until: ahead } };
    const used = Object.fromEntries(Object.entries(values).filter(([one]) => expression.includes(`:${one}`)));
    await relay.stores.table.update(keys.job(job?.id ?? ''), { expression, values: used });
    await relay.sweep();
    await relay.work();
    expect(await relay.jobs()).toMatchObject([{ status: 'succeeded' }]);
  });

  it('sends a job with a time years ahead even if many others wait for a worker', async () => {
    await relay.post('issues', issueEvent('opened'));
    const [job] = await relay.jobs();
    if (!job) throw new Error('expected a job');
    const { table } = relay.stores;
    const others = Array.from({ length: 240 }, (_, place) => `${job.id}-${place}`);
    await Promise.all(others.map((id) => table.put({ ...job, ...keys.job(id), id })));
    const ahead = relay.clock.now + 5 * 365 * 86_400_000;
    await table.update(keys.job(job.id), { expression: 'SET #wakeAt = :ahead', values: { ahead } });
    relay.clock.now += 60_000;
    await relay.sweep();
    expect(await relay.stores.jobs.get(job.id)).toMatchObject({ generation: 2 });
  });

  it.each([
    ['attempts of text', 'SET #attempts = :value', { value: 'many' }],
    ['no input', 'REMOVE #input', {}],
    ['a lane that does not exist', 'SET #lane = :value', { value: 'sideways' }],
    ['the id of another job', 'SET #id = :value', { value: 'another' }],
    ['a time beyond all dates', 'SET #queuedAt = :value', { value: 9e15 }],
    ['a reply to where only a newer version can', 'SET #replyTo = :value', { value: { in: 'teams', channelId: '7' } }],
    ['an invalid list of waits', 'SET #waits = :value', { value: { newest: [null], older: 0 } }],
  ])('parks an unreadable record, and carries out the others: %s', async (_, expression, values) => {
    for (const id of [1, 2, 3]) await relay.post('issues', issueEvent('opened', { id }));
    emptyQueues();
    const [bad] = await relay.jobs();
    const { table } = relay.stores;
    await table.update(keys.job(bad?.id ?? ''), { expression, values });
    relay.clock.now += 60_000;
    await relay.sweep();
    await relay.sweep();
    await relay.work();
    expect(await relay.jobs()).toMatchObject([{ status: 'succeeded' }, { status: 'succeeded' }]);
    expect(relay.log.filter(({ message }) => String(message).includes('cannot be read'))).toHaveLength(1);
    expect(relay.metrics.findLast((metric) => 'ParkedJobs' in metric)).toMatchObject({ ParkedJobs: 1 });
    await expect(relay.stores.jobs.get(bad?.id ?? '')).rejects.toThrow(
      `the record of the job ${bad?.id} cannot be read`,
    );
  });

  it('leaves a job at its place in line, however long the line lasts', async () => {
    relay = await startRelay({ config: exampleConfig({}, { connection: { limits: { perDay: 1 } } }) });
    for (const id of [1, 2]) await relay.post('issues', issueEvent('opened', { id }));
    await relay.work();
    const standing = await relay.jobs('waiting');
    expect(standing).toMatchObject([{ line: expect.anything() }]);
    relay.clock.now += 8 * 3_600_000;
    await relay.sweep();
    expect(await relay.jobs('waiting')).toMatchObject(standing.map(({ id, generation }) => ({ id, generation })));
  });

  it('parks a job whose place in line is unreadable, and calls the others', async () => {
    relay = await startRelay({ config: exampleConfig({}, { connection: { limits: { perDay: 1 } } }) });
    for (const id of [1, 2, 3]) await relay.post('issues', issueEvent('opened', { id }));
    await relay.work();
    const [bad] = await relay.jobs('waiting');
    const change = { expression: 'SET #lane = :value', values: { value: 'sideways' } };
    await relay.stores.table.update(keys.job(bad?.id ?? ''), change);
    await relay.pass(2 * 86_400_000, 86_400_000);
    expect(await relay.jobs()).toMatchObject([{ status: 'succeeded' }, { status: 'succeeded' }]);
    expect(relay.metrics.findLast((metric) => 'ParkedJobs' in metric)).toMatchObject({ ParkedJobs: 1 });
  });

  it('records a heartbeat each time it has run to its end', async () => {
    await relay.sweep();
    await relay.sweep();
    expect(relay.metrics.filter((metric) => metric.Heartbeat === 1)).toHaveLength(2);
  });

  it('records no heartbeat if it fails', async () => {
    relay = await startRelay({ tableOnWire: true, environment: { TABLE_NAME: 'nowhere' } });
    await expect(relay.sweep()).rejects.toThrow(/not found/);
    expect(relay.metrics).toEqual([]);
  });

  it('does not touch queued, sleeping or ended jobs', async () => {
    await startWithSleepingUpdate();
    await relay.post('issues', issueEvent('opened', { id: 3 }));
    expect(await relay.jobs('waiting')).toMatchObject([{ dueAt: expect.any(Number) }]);
    relay.clock.now += 59_999;
    await relay.sweep();
    expect((await relay.jobs()).map((job) => job.generation)).toEqual([1, 1, 1]);
  });

  it('a job behind another one of its entity waits for that job, and not for a worker', async () => {
    await startWithSleepingUpdate();
    await relay.post('issues', issueEvent('edited', { id: 1, title: 'a third title', seconds: 2 }));
    relay.clock.now += 30_000;
    await relay.post('issues', issueEvent('opened', { id: 3 }));
    relay.clock.now += 61_000;
    await relay.sweep();
    expect(relay.metrics.findLast((metric) => 'OldestQueued' in metric)).toMatchObject({ OldestQueued: 61 });
  });

  it('while no worker runs, jobs are sent again less and less often, and the metric shows how long they have waited', async () => {
    for (const id of [1, 2]) await relay.post('issues', issueEvent('opened', { id }));
    for (let minute = 1; minute <= 60; minute++) {
      relay.clock.now += 60_000;
      await relay.sweep();
    }
    // After 1, 2, 4, 8, 16 and 32 minutes.
    expect((await relay.jobs('queued')).map(({ generation }) => generation)).toEqual([7, 7]);
    expect(relay.metrics.findLast((metric) => 'OldestOverdue' in metric)).toMatchObject({
      OldestOverdue: 3_600,
      OldestQueued: 3_600,
    });
    await relay.work();
    expect(await relay.jobs('succeeded')).toHaveLength(2);
    await relay.sweep();
    expect(relay.metrics.findLast((metric) => 'OldestOverdue' in metric)).toMatchObject({
      OldestOverdue: 0,
      OldestQueued: 0,
    });
  });
});
