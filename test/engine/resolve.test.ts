import { describe, expect, it } from 'vitest';
import { resolveJob } from '../../lib/engine/operate/resolve.ts';
import type { Job } from '../../lib/engine/record/job.ts';
import { LeaseLost } from '../../lib/engine/record/job-store.ts';
import { openJournal } from '../../lib/engine/record/journal.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, PROJECT, startRelay, type TestRelay } from '../relay.ts';

const STEP = 'create-defect';
let relay: TestRelay;
const clock = () => relay.clock.now;

/** A parked job whose defect exists: the service did not answer, and listed it only later. */
async function parked(): Promise<Job> {
  relay = await startRelay({
    config: exampleConfig({ priority: { default: 'Medium', labels: { urgent: 'High' } } }),
  });
  relay.sandbox.setFault({ kind: 'server-error', when: 'before work', operation: '/defects/create', times: 1 });
  await relay.happens(issueEvent('opened'));
  relay.clock.now += 10 * 60_000;
  const [job] = await relay.jobs('parked');
  const [a] = relay.sandbox.data.defects;
  if (!job || !a) throw new Error('expected a parked job');
  const { title } = issueEvent('opened').issue;
  relay.sandbox.data.defects.push({
    ...a,
    defect_id: 'late',
    project_id: PROJECT,
    title: String(title),
    priority: 'Low',
  });
  return job;
}

/** @param by the operator who found the defect */
async function done(by: string, id = relay.defects()[0]?.defect_id ?? ''): Promise<Job> {
  const [job] = await relay.jobs('parked');
  if (!job) throw new Error('expected a parked job');
  return resolveJob(job, { done: id, verify: async () => id }, { ...relay.stores, by, clock });
}

/** True for the nth write of the job or its journal. */
function write(n: number): (body: string) => boolean {
  let left = n;
  return (body) => body.includes('"job#') && body.includes('ConditionExpression') && --left === 0;
}

describe('resolve --done', () => {
  it.each([1, 2, 3, 4, 5, 6])(
    'is completed by another operator if the first one stopped before write %i',
    async (n) => {
      await parked();
      relay.table.stopAt(write(n));
      const isStopped = await done('ana').then(
        () => false,
        () => true,
      );
      relay.table.goOn();
      if (isStopped) await done('bo');
      await relay.workToTheEnd();
      expect(relay.defects()).toHaveLength(1);
      expect(await relay.jobs('succeeded')).toHaveLength(1);
    },
  );

  it('is refused with another id if the step is already done', async () => {
    await parked();
    relay.table.stopAt((body) => body.includes('"job#') && body.includes('UpdateExpression'));
    await expect(done('ana')).rejects.toThrow();
    relay.table.goOn();
    await expect(done('bo', 'another')).rejects.toThrow(`is done already: it created ${relay.defects()[0]?.defect_id}`);
  });

  it('is decided by one of two simultaneous operators', async () => {
    await parked();
    const decided = await Promise.allSettled([done('ana'), done('bo')]);
    if (decided.every(({ status }) => status === 'rejected')) await done('cleo');
    await relay.workToTheEnd();
    expect(await relay.jobs('succeeded')).toHaveLength(1);
  });

  it('decides nothing if another operator decided while the service was being asked', async () => {
    const job = await parked();
    const verify = async () => {
      await resolveJob(job, 'again', { ...relay.stores, by: 'bo', clock });
      await relay.workToTheEnd();
      return 'what ana found';
    };
    const done = resolveJob(job, { done: 'what ana found', verify }, { ...relay.stores, by: 'ana', clock });
    await expect(done).rejects.toThrow('has just changed');
    expect((await relay.jobs())[0]?.outcome).not.toContain('what ana found');
  });

  it('is not undone by a stalled worker that stores its request again', async () => {
    const { id } = await parked();
    const lease = { owner: 'stalled', isHeld: async () => false };
    const journal = await openJournal(relay.stores.table, id, clock, lease);
    const open = journal.openRequest(STEP);
    if (!open) throw new Error('expected an open request');
    await done('ana');
    await expect(journal.keepRequest(STEP, { ...open, searches: 9 })).rejects.toThrow(LeaseLost);
    expect((await openJournal(relay.stores.table, id, clock)).openSteps()).toEqual([]);
  });

  it('keeps no request of a worker whose lease was over when it stored the request', async () => {
    const { id } = await parked();
    const lease = { owner: 'late', isHeld: async () => false };
    const journal = await openJournal(relay.stores.table, id, clock, lease);
    const open = journal.openRequest(STEP);
    if (!open) throw new Error('expected an open request');
    await expect(journal.keepRequest('another step', open)).rejects.toThrow(LeaseLost);
    expect((await openJournal(relay.stores.table, id, clock)).openSteps()).toEqual([STEP]);
  });

  it("sends the issue's changes since then, and keeps a person's change of another field", async () => {
    await parked();
    await relay.happens(issueEvent('edited', { seconds: 1, title: 'edited' }));
    await done('ana');
    await relay.workToTheEnd();
    expect(relay.defects()).toMatchObject([{ title: 'edited', priority: 'Low' }]);
  });
});
