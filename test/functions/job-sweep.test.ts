import { afterEach, describe, expect, it } from 'vitest';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';

let relay: TestRelay;
afterEach(() => relay.close());

/** A queue that lost what it held. */
function emptyQueues(): void {
  for (const queue of relay.stack.queues) {
    for (let message = queue.receive(); message; message = queue.receive()) queue.delete(message.receiptHandle);
  }
}

describe('the note that a job was queued', () => {
  it('a late queued mark does not delay a job that already ran and waits', async () => {
    relay = await startRelay();
    await relay.post('issues', issueEvent('opened'));
    const [job] = await relay.jobs();
    const claimed = await relay.stores.jobs.claim(job?.id ?? '', 1, 'worker', relay.clock.now + 60_000);
    if (!job || 'unclaimed' in claimed) throw new Error('the job should have been claimed');
    const dueAt = relay.clock.now + 15 * 60_000;
    await relay.stores.jobs.wait(claimed, { dueAt, why: 'paused', attempts: 0, message: 'leaves', waitsFor: 'pause' });
    await relay.stores.jobs.noteQueued(job);
    expect(await relay.jobs()).toMatchObject([{ status: 'waiting', wakeAt: dueAt }]);
  });
});

describe('the sweep', () => {
  it.each([
    [
      'stored and never queued',
      async () =>
        relay.stores.table.update(
          { pk: `job#${(await relay.jobs())[0]?.id}`, sk: 'job' },
          { expression: 'SET #wakeAt = :at REMOVE #queuedAt', values: { at: relay.clock.now + 60_000 } },
        ),
      60_000,
    ],
    [
      'claimed by a worker that died',
      async () => {
        const [job] = await relay.jobs();
        await relay.stores.jobs.claim(job?.id ?? '', 1, 'dead', relay.clock.now + 30_000);
      },
      30_000,
    ],
  ])('the sweep queues a job that would not continue on its own: %s', async (_, lose, afterMs) => {
    relay = await startRelay();
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

  it('leaves a job in line where it stands, however long the line lasts', async () => {
    relay = await startRelay({ config: exampleConfig({}, { connection: { limits: { perDay: 1 } } }) });
    for (const id of [1, 2]) await relay.post('issues', issueEvent('opened', { id }));
    await relay.work();
    const standing = await relay.jobs('waiting');
    expect(standing).toMatchObject([{ line: expect.anything() }]);
    relay.clock.now += 8 * 3_600_000;
    await relay.sweep();
    expect(await relay.jobs('waiting')).toMatchObject(standing.map(({ id, generation }) => ({ id, generation })));
  });

  it('gives a sign of life each time it has run to its end', async () => {
    relay = await startRelay();
    await relay.sweep();
    await relay.sweep();
    expect(relay.metrics.filter((metric) => metric.Heartbeat === 1)).toHaveLength(2);
  });

  it('the sweep records no heartbeat if it fails', async () => {
    relay = await startRelay({ environment: { TABLE_NAME: 'nowhere' } });
    await expect(relay.sweep()).rejects.toThrow(/not found/);
    expect(relay.metrics).toEqual([]);
  });

  it('the sweep does not touch queued, sleeping or ended jobs', async () => {
    relay = await startRelay();
    await relay.post('issues', issueEvent('opened', { id: 1 }));
    await relay.work();
    relay.sandbox.setFault({ kind: 'server-error', operation: '/defects/update', times: 1 });
    await relay.post('issues', issueEvent('edited', { id: 1, title: 'another title', seconds: 1 }));
    await relay.work();
    await relay.post('issues', issueEvent('opened', { id: 3 }));
    expect(await relay.jobs('waiting')).toMatchObject([{ dueAt: expect.any(Number) }]);
    relay.clock.now += 60_000;
    await relay.sweep();
    expect((await relay.jobs()).map((job) => job.generation)).toEqual([1, 1, 1]);
  });
});
