import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { defineConfig } from '../../lib/config/schema.ts';
import { requeueJob } from '../../lib/engine/line/sweep.ts';
import { discardJob } from '../../lib/engine/operate/resume.ts';
import { isOutcomeUnknown, newsOf } from '../../lib/engine/record/job.ts';
import { heldBy } from '../../lib/links/link-life.ts';
import type { Fault } from '../../sandbox/faults.ts';
import { type GithubApi, startGithubApi } from '../github-api.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, PROJECT, startRelay, type TestRelay, type TestRelayOptions } from '../relay.ts';
import { transferOf } from './transfer.ts';

const DAY_MS = 86_400_000;
const OTHER = 'Codertocat/Other';

let relay: TestRelay;
let seeded: number;
const start = async (options?: TestRelayOptions) => {
  relay = await startRelay(options);
  seeded = relay.sandbox.data.defects.length;
};
afterEach(() => relay.close());

const defects = () => relay.sandbox.data.defects.slice(seeded);
const only = async (status: 'parked' | 'waiting') => {
  const [job, ...others] = await relay.jobs(status);
  if (!job || others.length > 0) throw new Error(`expected one ${status} job`);
  return job;
};
const tell = async (...event: Parameters<typeof issueEvent>) => {
  expect((await relay.post('issues', issueEvent(...event))).status).toBeOneOf([200, 202]);
};
const happens = async (...event: Parameters<typeof issueEvent>) => {
  await tell(...event);
  await relay.workToTheEnd();
  relay.clock.now += 1;
};
const came = (seconds: number) =>
  transferOf(issueEvent('opened'), issueEvent('opened', { id: 2, seconds, repository: OTHER }))[1];

describe('a claim whose job creates nothing', () => {
  it('is taken over by the job of an event that comes while it is being discarded', async () => {
    await start();
    relay.sandbox.setFault({ kind: 'maintenance', status: 403, operation: '/defects/create', times: 1 });
    await happens('opened');
    // The message of the discard is lost until the next sweep.
    const queue = { ...relay.stores.queue, async send() {} };
    const options = { ...relay.stores, queue, clock: () => relay.clock.now };
    await discardJob(await only('parked'), { by: 'someone', reason: 'not wanted' }, options);
    await happens('edited', { seconds: 1, title: 'edited' });
    expect(defects()).toMatchObject([{ title: 'edited' }]);
  });

  it('a parked job gives up its claim, so a repository on another connection gets its defect there', async () => {
    const on = (connection: string) =>
      defineConfig({
        connections: { main: {}, other: {} },
        github: {
          repositories: [{ name: 'Codertocat/Hello-World', connection, issueToDefect: { projectId: PROJECT } }],
        },
      });
    await start({ config: on('main'), sandbox: { keys: [{ apiKey: 'pk_scoped', secretKey: 'secret', scopes: [] }] } });
    await happens('opened');
    expect(isOutcomeUnknown(await only('parked'))).toBe(false);
    relay.sandbox.keys[0] = { apiKey: 'pk_scoped', secretKey: 'secret', scopes: ['*'] };
    relay.runtime.config.github.repositories = on('other').github.repositories;
    await happens('edited', { seconds: 1, title: 'edited' });
    await happens('edited', { seconds: 2, title: 'edited again' });
    expect(defects()).toMatchObject([{ title: 'edited again' }]);
    expect(await relay.links.get('issue-9001')).toMatchObject({ claim: { connection: 'other' } });
    // The old job does not create on the connection that it was made for.
    await requeueJob(await only('parked'), relay.stores);
    await relay.workToTheEnd();
    expect(await relay.jobs('parked')).toEqual([]);
    expect(defects()).toHaveLength(1);
  });
});

it('a transfer during the creation moves the defect', async () => {
  await start({ config: exampleConfig({}, { also: [OTHER] }) });
  relay.sandbox.setFault({ kind: 'latency', ms: 400, operation: '/defects/create', times: 1 });
  await tell('opened');
  const working = relay.work();
  await vi.waitUntil(() => relay.sandbox.requests > 0);
  await relay.post('issues', came(4));
  await relay.work();
  await working;
  await relay.workToTheEnd();
  expect(defects()).toMatchObject([{ description: expect.stringContaining('Codertocat/Other#2') }]);
  expect(await relay.links.get('issue-9002')).toMatchObject({ life: 'made' });
});

describe('what has not ended', () => {
  const unknown: Fault = { kind: 'server-error', when: 'before work', operation: '/defects/create', times: 1 };

  it('a job replayed before its 30th day does not expire while it waits', async () => {
    await start({ sandbox: { keys: [{ apiKey: 'pk_scoped', secretKey: 'secret', scopes: [] }] } });
    await happens('opened');
    relay.clock.now += 30 * DAY_MS - 60_000;
    relay.sandbox.keys[0] = { apiKey: 'pk_scoped', secretKey: 'secret', scopes: ['*'] };
    relay.sandbox.setFault({ kind: 'rate-limited', times: 1, retryAfterSeconds: 3_600 });
    await requeueJob(await only('parked'), relay.stores);
    await relay.workToTheEnd();
    expect(defects()).toHaveLength(1);
  });

  it('a job that is replayed removes the expiry of its items', async () => {
    await start();
    relay.sandbox.setFault(unknown);
    await happens('opened');
    const { id } = await only('parked');
    const items = await relay.stores.table.partition(`job#${id}`);
    const expiresAt = relay.clock.now / 1_000 + 60;
    for (const item of items) {
      await relay.stores.table.put({ ...item, pk: String(item.pk), sk: String(item.sk), expiresAt });
    }
    relay.clock.now += 60_000;
    await requeueJob(await only('parked'), relay.stores);
    await relay.workToTheEnd();
    const after = await relay.stores.table.partition(`job#${id}`);
    expect(after).toHaveLength(items.length);
    for (const item of after) expect(item).not.toHaveProperty('expiresAt');
  });

  it.each([
    ['it had made nothing', false],
    ['it had made the defect', true],
  ])('a claim whose job has no record is taken over after a search: %s', async (_, made) => {
    await start();
    await happens('opened');
    const { table } = relay.stores;
    const { claim } = heldBy(await relay.links.get('issue-9001'));
    await table.update(
      { pk: 'link#issue-9001', sk: 'link' },
      { expression: 'SET #life = :life REMOVE #defect', values: { life: 'claimed' } },
    );
    for (const { pk, sk } of await table.partition(`job#${claim?.by}`)) {
      await table.delete({ pk: String(pk), sk: String(sk) });
    }
    if (!made) relay.sandbox.data.defects.splice(seeded);
    await happens('edited', { seconds: 1, title: 'edited' });
    expect(defects()).toMatchObject([{ title: 'edited' }]);
    expect(await relay.jobs('parked')).toEqual([]);
  });
});

describe('within one second', () => {
  it('labeled, unlabeled, labeled within a second ends with the defect', async () => {
    await start();
    await tell('labeled');
    await tell('unlabeled', { labels: [] });
    await tell('labeled');
    await relay.workToTheEnd();
    expect(defects()).toHaveLength(1);
  });

  it('labeled, unlabeled, labeled is a job although it happened before', async () => {
    await start({ config: exampleConfig({}, { connection: { limits: { perMinute: 1, perDay: 100 } } }) });
    await happens('opened', { id: 7 });
    await tell('labeled');
    await relay.work();
    await tell('unlabeled', { labels: [] });
    const { status } = await relay.post('issues', issueEvent('labeled'));
    expect(status).toBe(202);
    expect((await relay.post('issues', issueEvent('labeled'))).status).toBe(200);
    await relay.workToTheEnd();
    expect(defects()).toHaveLength(2);
  });

  it('labels are swapped, and the deliveries cross', async () => {
    await start();
    await tell('labeled', { labels: ['bug'] });
    await tell('unlabeled', { labels: [] });
    await relay.workToTheEnd();
    expect(defects()).toHaveLength(1);
    expect(defects()[0]?.description).not.toContain('No longer labelled');
  });
});

describe('two states of one second', () => {
  let github: GithubApi;
  beforeEach(async () => {
    github = await startGithubApi(() => relay.clock.now);
  });
  afterEach(() => github.close());

  /** Deliveries that crossed: the label is gone, and the title is the first. */
  const cross = async () => {
    const config = exampleConfig({ comment: false }, { apiUrl: github.url });
    await start({ config, github: { token: 'ghp_test' } });
    await tell('edited', { labels: [], title: 'the newest' });
    await tell('labeled', { title: 'the first' });
  };

  it('the worker settles a tie with the state from GitHub', async () => {
    await cross();
    github.issues.set('Codertocat/Hello-World#1', issueEvent('read', { labels: ['bug'], title: 'the newest' }).issue);
    expect(github.authorizations.size).toBe(0);
    await relay.workToTheEnd();
    expect(defects()).toMatchObject([{ title: 'the newest' }]);
  });

  it('a tie is settled by a rule that makes the defect if GitHub does not show the issue', async () => {
    await cross();
    await relay.workToTheEnd();
    expect(defects()).toMatchObject([{ title: 'the first' }]);
  });

  it('a tie waits while GitHub does not answer', async () => {
    await cross();
    github.refusal = { status: 502, message: 'Bad gateway' };
    await relay.work();
    expect((await relay.jobs('waiting')).map(newsOf)).toEqual(['GitHub answered 502']);
    github.refusal = undefined;
    await relay.workToTheEnd();
    expect(defects()).toHaveLength(1);
  });
});

describe('an update', () => {
  const aPersonSets = (fields: object) => Object.assign(defects()[0] ?? expect.fail('there is no defect'), fields);
  const settings = {
    priority: { default: 'Medium', labels: { urgent: 'High' } },
    severity: { labels: { typo: 'Minor' } },
  } as const;

  it("an update keeps a person's change until the issue's value changes", async () => {
    await start({ config: exampleConfig(settings) });
    await happens('opened');
    aPersonSets({ priority: 'Low' });
    await happens('edited', { seconds: 1, title: 'edited' });
    expect(defects()).toMatchObject([{ title: 'edited', priority: 'Low' }]);
    await happens('labeled', { seconds: 2, labels: ['bug', 'urgent'] });
    expect(defects()).toMatchObject([{ priority: 'High' }]);
    await happens('labeled', { seconds: 3, labels: ['bug', 'urgent', 'typo'] });
    expect(defects()).toMatchObject([{ severity: 'Minor' }]);
    aPersonSets({ severity: 'Critical' });
    await happens('unlabeled', { seconds: 4, labels: ['bug', 'urgent'] });
    expect(defects()).toMatchObject([{ severity: 'Critical' }]);
    await happens('labeled', { seconds: 5, labels: ['bug', 'urgent', 'typo'] });
    expect(defects()).toMatchObject([{ severity: 'Minor' }]);
  });

  it.each([
    ['was carried out', 'after work'],
    ['was not', 'before work'],
  ] as const)('whose answer was lost is sent again, and no more than it: it %s', async (_, when) => {
    await start({ config: exampleConfig(settings) });
    await happens('opened');
    relay.sandbox.setFault({ kind: 'cut', when, operation: '/defects/update', times: 1 });
    await tell('edited', { seconds: 1, title: 'one' });
    await relay.work();
    aPersonSets({ priority: 'Low' });
    // The title is the first again, and nobody knows which one the defect has.
    await happens('edited', { seconds: 2 });
    expect(defects()).toMatchObject([{ title: issueEvent('opened').issue.title, priority: 'Low' }]);
  });

  it('a lost update is over when the issue no longer has a value for its field', async () => {
    await start({ config: exampleConfig({ priority: { labels: { urgent: 'High', later: 'Low' } } }) });
    await happens('opened', { labels: ['bug', 'urgent'] });
    relay.sandbox.setFault({ kind: 'cut', when: 'before work', operation: '/defects/update', times: 1 });
    await tell('labeled', { seconds: 1, labels: ['bug', 'later'] });
    await relay.work();
    await happens('unlabeled', { seconds: 2 });
    expect(await relay.jobs('succeeded')).toHaveLength(3);
  });

  it("an update keeps a person's change across a transfer", async () => {
    await start({ config: exampleConfig(settings, { also: [OTHER] }) });
    await happens('opened');
    aPersonSets({ priority: 'Low' });
    await relay.post('issues', came(4));
    await relay.workToTheEnd();
    expect(defects()).toMatchObject([{ priority: 'Low', description: expect.stringContaining('Codertocat/Other#2') }]);
  });
});
