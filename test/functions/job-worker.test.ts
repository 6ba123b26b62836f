import { beforeEach, describe, expect, it } from 'vitest';
import { defineConfig } from '../../lib/config/schema.ts';
import { requeueJob } from '../../lib/engine/line/sweep.ts';
import { InLine, RetryAt } from '../../lib/engine/record/interruption.ts';
import { type Job, waitOf } from '../../lib/engine/record/job.ts';
import { LeaseLost } from '../../lib/engine/record/job-store.ts';
import { openJournal, type StepEntry } from '../../lib/engine/record/journal.ts';
import { keys } from '../../lib/state/table/keys.ts';
import { issueEvent } from '../issue-events.ts';
import { PROJECT, startRelay, type TestRelay } from '../relay.ts';

let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay();
});

const only = async () => {
  const [job, ...others] = await relay.jobs();
  if (!job || others.length > 0) throw new Error('expected one job');
  return job;
};
const send = (body: string, id = 'm') => relay.stack.queues[1]?.send(body, 'group', id);
const stored = async () => {
  await relay.post('issues', issueEvent('opened'));
  return only();
};

describe('a creation without a clear answer', () => {
  const operation = '/defects/create';

  it.each([
    ['request', 'no request', 'REMOVE #request', {}],
    ['request', 'an operation that is a number', 'SET #operation = :value', { value: 7 }],
    ['request', 'a time far in the future', 'SET #lookFrom = :value', { value: 8e15 }],
    ['step', 'a status that does not exist', 'SET #status = :value', { value: 'ready' }],
    ['step', 'a creation that is done, without an id', 'SET #status = :value', { value: 'done' }],
    ['step', 'sends of text', 'SET #sends = :value', { value: 'one' }],
  ])('parks the job, and creates nothing again, if its %s is unreadable: %s', async (kind, _, change, values) => {
    relay.sandbox.setFault({ kind: 'server-error', when: 'before work', operation, times: 1 });
    await relay.happens(issueEvent('opened'));
    const { id } = await only();
    const { table } = relay.stores;
    const request = (await table.partition(keys.job(id).pk)).find(({ sk }) => sk === `${kind}#create-defect`);
    await table.update({ pk: keys.job(id).pk, sk: String(request?.sk) }, { expression: change, values });
    await relay.replay();
    expect((await only()).parked?.reason).toMatch(/^the (signed request|journal) of .* cannot be read/);
    expect(relay.defects()).toEqual([]);
  });

  it('a replay of the parked job searches for the creation again', async () => {
    relay.sandbox.setFault({ kind: 'server-error', when: 'before work', operation, times: 1 });
    await relay.happens(issueEvent('opened'));
    await relay.replay();
    expect((await only()).status).toBe('parked');
    // The defect exists after all: the list had lagged behind.
    const link = await relay.links.get('issue-9001');
    if (link.life !== 'claimed') throw new Error('the parked job should hold the claim');
    const [some = expect.fail('the seed has no defect')] = relay.sandbox.data.defects;
    const description = `… ${link.claim.marker}`;
    relay.sandbox.data.defects.push({ ...some, defect_id: 'late', project_id: PROJECT, description });
    relay.clock.now += 60_000;
    await relay.replay();
    expect((await only()).outcome).toBe('created defect late');
    expect(relay.defects()).toHaveLength(1);
  });
});

describe('a refusal that says how to continue', () => {
  it("a refused timestamp is signed again with the service's time", async () => {
    relay.sandbox.setFault({ kind: 'clock-skew', seconds: -1200 });
    await relay.post('issues', issueEvent('opened'));
    await relay.work();
    expect((await only()).status).toBe('succeeded');
    expect(relay.sandbox.audit.map((entry) => entry.reason)).toEqual(['Timestamp outside window', null]);
  });

  it.each(['Unknown or revoked key', 'Not authorized'])(
    'a refused key makes the worker read the secret: %s',
    async (message) => {
      const said = async (answer: Response) =>
        answer.status === 401 ? Response.json({ success: false, message }, { status: 401 }) : answer;
      relay = await startRelay({ runtime: { fetch: async (...request) => said(await fetch(...request)) } });
      await relay.post('issues', issueEvent('opened'));
      await relay.work();
      relay.clock.now += 61_000;
      relay.sandbox.keys[0] = { apiKey: 'pk_rotated', secretKey: 'rotated', scopes: ['*'] };
      relay.stack.secrets.put(`${relay.stack.secretPrefix}partner/main`, {
        baseUrl: relay.sandbox.url,
        ...relay.sandbox.keys[0],
      });
      await relay.happens(issueEvent('edited', { seconds: 1, title: 'x' }));
      expect(relay.defects()).toMatchObject([{ title: 'x' }]);
    },
  );
});

it.each([
  ['a secret without its field', { secretKey: undefined }, /partner\/main has missing or invalid fields: secretKey/],
  ['a base URL that is not https', { baseUrl: 'http://pm.example.com' }, /is not https/],
])('an error says what is wrong without a secret: %s', async (_, change, reason) => {
  const secret = { baseUrl: 'http://127.0.0.1:1', apiKey: 'pk_canary', secretKey: 'canary', ...change };
  relay.stack.secrets.put(`${relay.stack.secretPrefix}partner/main`, secret);
  await relay.post('issues', issueEvent('opened'));
  await relay.work();
  expect(waitOf(await only())?.why).toMatch(reason);
  expect(JSON.stringify([relay.log, await only()])).not.toContain('canary');
});

it('two connections with the same key share one budget', async () => {
  const limits = { perMinute: 10, perDay: 5_000 };
  const on = (name: string, connection: string) => ({ name, connection, issueToDefect: { projectId: PROJECT } });
  const repositories = [on('Codertocat/Hello-World', 'main'), on('Codertocat/Other', 'other')];
  const config = { connections: { main: { limits }, other: { limits } }, github: { repositories } };
  relay = await startRelay({ sandbox: { rateLimit: limits }, config: defineConfig(config) });
  for (let id = 1; id <= 6; id++) {
    await relay.post('issues', issueEvent('opened', { id }));
    await relay.post('issues', issueEvent('opened', { id: 100 + id, repository: 'Codertocat/Other' }));
  }
  await relay.workToTheEnd();
  expect(relay.defects()).toHaveLength(12);
  expect(relay.sandbox.audit.filter((entry) => entry.status !== 201)).toEqual([]);
});

describe('a message', () => {
  it.each([
    ['of an older generation', (id: string) => ({ jobId: id, generation: 0 })],
    ['of a job that is gone', () => ({ jobId: 'gone', generation: 1 })],
  ])('%s is deleted', async (_, message) => {
    const { id } = await stored();
    relay.stack.queues[1]?.receive();
    send(JSON.stringify(message(id)));
    await relay.work();
    expect(relay.sandbox.requests).toBe(0);
    expect(relay.stack.queues[1]?.size).toBe(1);
  });

  it.each(['no JSON', '{}'])('an invalid message fails the worker, and stays for SQS to move: %s', async (body) => {
    send(body);
    await expect(relay.work()).rejects.toThrow();
    expect(relay.stack.queues[1]?.size).toBe(1);
  });

  it("waits for a worker's lease, and is taken over when the lease expires", async () => {
    const { id, generation } = await stored();
    const until = relay.clock.now + 30_000;
    await relay.stores.jobs.claim(id, generation, 'a worker that dies', until);
    await relay.work();
    expect(relay.sandbox.requests).toBe(0);
    expect(relay.stack.queues[1]?.nextWakeAt()).toBe(until);
    relay.clock.now = until;
    await relay.work();
    expect(await only()).toMatchObject({ status: 'succeeded' });
  });

  it('of workers that claim a job at the same moment, one gets it, even after the lease of an earlier one', async () => {
    const { id, generation } = await stored();
    for (const round of [1, 2]) {
      const until = relay.clock.now + 30_000;
      const owners = ['a', 'b', 'c'].map((name) => `${name}${round}`);
      const claims = await Promise.all(owners.map((owner) => relay.stores.jobs.claim(id, generation, owner, until)));
      expect(claims.filter((claim) => !('unclaimed' in claim))).toHaveLength(1);
      relay.clock.now = until;
    }
  });

  describe('a run that crashes', () => {
    /** A worker claims the job, and dies. */
    async function crash(): Promise<void> {
      const { id, generation } = await only();
      await relay.stores.jobs.claim(id, generation, 'a worker that dies', relay.clock.now + 1_000);
      relay.clock.now += 1_000;
    }
    /** Writes a step that a run has reached into the journal. */
    async function writes(entry: Pick<StepEntry, 'status' | 'failures'>): Promise<void> {
      const { id } = await only();
      const { now } = relay.clock;
      const journal = await openJournal(relay.stores.table, id, () => now);
      await journal.write({ step: 'a step', calls: 'x', startedAt: now, finishedAt: now, ...entry });
    }

    it.each([
      [2, [], 1],
      [3, ['the worker crashed 3 times in a row on this job, which made no progress'], 0],
    ])('%i times in a row, without a new entry in the journal, parks its job or not', async (times, reasons, made) => {
      await stored();
      for (let count = 0; count < times; count++) await crash();
      await relay.workToTheEnd();
      expect((await relay.jobs('parked')).map(({ parked }) => parked?.reason)).toEqual(reasons);
      expect(relay.defects()).toHaveLength(made);
    });

    it('parks its job even if a step fails once more in each run', async () => {
      await stored();
      for (let failures = 1; failures <= 3; failures++) {
        await crash();
        await writes({ status: 'failed', failures });
      }
      await relay.workToTheEnd();
      expect((await relay.jobs('parked')).map(({ parked }) => parked?.reason)).toEqual([
        expect.stringContaining('crashed 3 times'),
      ]);
    });

    it('settles an open creation before it parks the job, and an operator continues the job', async () => {
      await stored();
      relay.sandbox.setFault({ kind: 'cut', when: 'after work', operation: '/defects/create' });
      await relay.work();
      for (let count = 0; count < 3; count++) {
        relay.clock.now += 60_000;
        await relay.sweep();
        await crash();
      }
      relay.sandbox.clearFaults();
      await relay.workToTheEnd();
      const job = await only();
      const reason = expect.stringContaining('crashed 3 times');
      expect(job.parked).toEqual({ reason, kind: 'needs an operator' });
      expect(Object.values(await relay.steps(job.id))).toEqual(['done']);
      await relay.replay();
      expect(await only()).toMatchObject({ status: 'succeeded' });
      expect(relay.defects()).toHaveLength(1);
    });

    it.each<[string, () => Promise<void>]>([
      ['after an entry of the journal', () => writes({ status: 'done' })],
      [
        'after a run that ended',
        async () => {
          relay.sandbox.setFault({ kind: 'rate-limited', times: 1 });
          await relay.work();
          relay.clock.now += 120_000;
          await relay.sweep();
        },
      ],
    ])('counts from the start %s', async (_, getsOn) => {
      await stored();
      for (const between of [getsOn, async () => {}]) {
        await crash();
        await crash();
        await between();
      }
      await relay.workToTheEnd();
      expect(await relay.jobs('parked')).toEqual([]);
    });

    it('does not count if its worker was stopped', async () => {
      await stored();
      for (let count = 0; count < 4; count++) {
        await crash();
        await requeueJob(await only(), { ...relay.stores, wasStopped: true });
      }
      await relay.workToTheEnd();
      expect(await only()).toMatchObject({ status: 'succeeded' });
    });
  });
});

it('a worker that lost its lease writes nothing', async () => {
  const { id, generation } = await stored();
  const late = await relay.stores.jobs.claim(id, generation, 'late', relay.clock.now + 1_000);
  relay.clock.now += 1_000;
  await relay.work();
  if ('unclaimed' in late) throw new Error('the job should have been claimed');
  await expect(relay.stores.jobs.park(late, { reason: 'late', kind: 'failed' })).rejects.toThrow(/lease/);
  expect((await only()).status).toBe('succeeded');
});

it.each<[string, (relay: TestRelay, late: Job) => Promise<unknown>]>([
  ['done', ({ stores }, late) => stores.jobs.finish(late, { ended: 'succeeded', outcome: 'late' })],
  ['parked', ({ stores }, late) => stores.jobs.park(late, { reason: 'late', kind: 'failed' })],
  ['waiting', ({ stores }, late) => stores.jobs.wait(late, new RetryAt(0, 'late'), 'leaves', late)],
  ['in line', ({ stores }, late) => stores.jobs.standInLine(late, new InLine('late'), late)],
])('a worker does not write that a job is %s if another worker holds the lease', async (_, end) => {
  const { id, generation } = await stored();
  const late = await relay.stores.jobs.claim(id, generation, 'late', relay.clock.now + 1_000);
  if ('unclaimed' in late) throw new Error('the job should have been claimed');
  relay.clock.now += 1_000;
  await relay.stores.jobs.claim(id, generation, 'the other', relay.clock.now + 1_000);
  await expect(end(relay, late)).rejects.toThrow(LeaseLost);
  expect(await only()).toMatchObject({ status: 'running', lease: { owner: 'the other' } });
});

it('a job that the changed configuration no longer allows is parked with the reason', async () => {
  await stored();
  relay.runtime.config.github.repositories = [];
  await relay.work();
  expect((await only()).parked?.reason).toContain('Codertocat/Hello-World is no longer configured');
});

it('a job is forgotten after 30 days, even before the table deletes it', async () => {
  const { id } = await stored();
  await relay.work();
  relay.clock.now += 30 * 86_400_000;
  expect(await relay.stores.jobs.get(id)).toBeUndefined();
  expect((await relay.post('issues', issueEvent('opened'))).status).toBe(202);
  await relay.workToTheEnd();
  expect(relay.defects()).toHaveLength(1);
});
