import { beforeEach, describe, expect, it, vi } from 'vitest';
import { defineConfig } from '../../lib/config/schema.ts';
import { requeueJob } from '../../lib/engine/line/sweep.ts';
import { resolveJob } from '../../lib/engine/operate/resolve.ts';
import { discardJob } from '../../lib/engine/operate/resume.ts';
import { isOutcomeUnknown, type Job, newsOf } from '../../lib/engine/record/job.ts';
import { heldBy } from '../../lib/links/link-life.ts';
import type { Fault } from '../../sandbox/faults.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, PROJECT, startRelay, type TestRelay } from '../relay.ts';
import { clearLink } from './clear-link.ts';
import { transferOf } from './transfer.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const OTHER = 'Codertocat/Other';

let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay();
});

const only = async (status: 'parked' | 'waiting') => {
  const [job, ...others] = await relay.jobs(status);
  if (!job || others.length > 0) throw new Error(`expected one ${status} job`);
  return job;
};
const tell = async (...event: Parameters<typeof issueEvent>) => {
  expect((await relay.post('issues', issueEvent(...event))).status).toBeOneOf([200, 202]);
};
const happens = (...event: Parameters<typeof issueEvent>) => relay.happens(issueEvent(...event));
const discard = (job: Job) =>
  discardJob(job, { by: 'alice', reason: 'not needed' }, { ...relay.stores, clock: () => relay.clock.now });
const came = (seconds: number) =>
  transferOf(issueEvent('opened'), issueEvent('opened', { id: 2, seconds, repository: OTHER }))[1];

it('a parked job gives up its claim, so a repository on another connection gets its defect there', async () => {
  const on = (connection: string) =>
    defineConfig({
      connections: { main: {}, other: {} },
      github: {
        repositories: [{ name: 'Codertocat/Hello-World', connection, issueToDefect: { projectId: PROJECT } }],
      },
    });
  relay = await startRelay({
    config: on('main'),
    sandbox: { keys: [{ apiKey: 'pk_scoped', secretKey: 'secret', scopes: [] }] },
  });
  await happens('opened');
  expect(isOutcomeUnknown(await only('parked'))).toBe(false);
  relay.sandbox.keys[0] = { apiKey: 'pk_scoped', secretKey: 'secret', scopes: ['*'] };
  relay.runtime.config.github.repositories = on('other').github.repositories;
  await happens('edited', { seconds: 1, title: 'edited' });
  await happens('edited', { seconds: 2, title: 'edited again' });
  expect(relay.defects()).toMatchObject([{ title: 'edited again' }]);
  expect(await relay.links.get('issue-9001')).toMatchObject({ claim: { connection: 'other' } });
  // The old job does not create a defect on its earlier connection.
  await relay.replay();
  expect(await relay.jobs('parked')).toEqual([]);
  expect(relay.defects()).toHaveLength(1);
});

it('a transfer during the creation moves the defect', async () => {
  relay = await startRelay({ config: exampleConfig({}, { also: [OTHER] }) });
  relay.sandbox.setFault({ kind: 'latency', ms: 400, operation: '/defects/create', times: 1 });
  await tell('opened');
  const working = relay.work();
  await vi.waitUntil(() => relay.sandbox.requests > 0);
  await relay.post('issues', came(4));
  await relay.work();
  await working;
  await relay.workToTheEnd();
  expect(relay.defects()).toMatchObject([{ description: expect.stringContaining('Codertocat/Other#2') }]);
  expect(await relay.links.get('issue-9002')).toMatchObject({ life: 'made' });
});

describe('work that has not ended', () => {
  const unknown: Fault = { kind: 'server-error', when: 'before work', operation: '/defects/create', times: 1 };

  it('a job replayed before its 30th day does not expire while it waits', async () => {
    relay = await startRelay({ sandbox: { keys: [{ apiKey: 'pk_scoped', secretKey: 'secret', scopes: [] }] } });
    await happens('opened');
    relay.clock.now += 30 * DAY_MS - 60_000;
    relay.sandbox.keys[0] = { apiKey: 'pk_scoped', secretKey: 'secret', scopes: ['*'] };
    relay.sandbox.setFault({ kind: 'rate-limited', times: 1, retryAfterSeconds: 3_600 });
    await relay.replay();
    expect(relay.defects()).toHaveLength(1);
  });

  it('a job that is replayed removes the expiry of its items', async () => {
    relay.sandbox.setFault(unknown);
    await happens('opened');
    const { id } = await only('parked');
    const items = await relay.stores.table.partition(`job#${id}`);
    const expiresAt = relay.clock.now / 1_000 + 60;
    for (const item of items) {
      await relay.stores.table.put({ ...item, pk: String(item.pk), sk: String(item.sk), expiresAt });
    }
    relay.clock.now += 60_000;
    await relay.replay();
    const after = await relay.stores.table.partition(`job#${id}`);
    expect(after).toHaveLength(items.length);
    for (const item of after) expect(item).not.toHaveProperty('expiresAt');
  });

  it.each([
    ['it had made nothing', false],
    ['it had made the defect', true],
  ])('a claim whose job has no record is taken over after a search: %s', async (_, made) => {
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
    if (!made) relay.sandbox.data.defects.splice(1);
    await happens('edited', { seconds: 1, title: 'edited' });
    expect(relay.defects()).toMatchObject([{ title: 'edited' }]);
    expect(await relay.jobs('parked')).toEqual([]);
  });
});

it('labeled, unlabeled, labeled within a second makes a job, even though it happened before', async () => {
  relay = await startRelay({ config: exampleConfig({}, { connection: { limits: { perMinute: 1, perDay: 100 } } }) });
  await happens('opened', { id: 7 });
  await tell('labeled');
  await relay.work();
  await tell('unlabeled', { labels: [] });
  const { status } = await relay.post('issues', issueEvent('labeled'));
  expect(status).toBe(202);
  expect((await relay.post('issues', issueEvent('labeled'))).status).toBe(200);
  await relay.workToTheEnd();
  expect(relay.defects()).toHaveLength(2);
});

describe('two states of one second', () => {
  /** Deliveries in the wrong order: the label is gone, and the title is the first again. */
  const cross = async () => {
    relay = await startRelay({ config: exampleConfig({ comment: false }), github: { token: 'ghp_test' } });
    await tell('edited', { labels: [], title: 'the newest' });
    await tell('labeled', { title: 'the first' });
  };

  it.each([
    ['with the state from GitHub', true, 'the newest'],
    ['by a rule that makes the defect if GitHub does not show the issue', false, 'the first'],
  ])('the worker resolves a tie %s', async (_, isShown, title) => {
    await cross();
    const { issue } = issueEvent('read', { labels: ['bug'], title: 'the newest' });
    if (isShown) relay.github.issues.set('Codertocat/Hello-World#1', issue);
    expect(relay.github.authorizations.size).toBe(0);
    await relay.workToTheEnd();
    expect(relay.defects()).toMatchObject([{ title }]);
  });

  it('a tie waits while GitHub does not answer', async () => {
    await cross();
    relay.github.refusal = { status: 502, message: 'Bad gateway' };
    await relay.work();
    expect((await relay.jobs('waiting')).map(newsOf)).toEqual(['GitHub answered 502']);
    relay.github.refusal = undefined;
    await relay.workToTheEnd();
    expect(relay.defects()).toHaveLength(1);
  });
});

describe('an update', () => {
  const aPersonSets = (fields: object) =>
    Object.assign(relay.defects()[0] ?? expect.fail('there is no defect'), fields);
  const settings = {
    priority: { default: 'Medium', labels: { urgent: 'High' } },
    severity: { labels: { typo: 'Minor' } },
  } as const;

  it("an update keeps a person's change until the issue's value changes", async () => {
    relay = await startRelay({ config: exampleConfig(settings) });
    await happens('opened');
    aPersonSets({ priority: 'Low' });
    await happens('edited', { seconds: 1, title: 'edited' });
    expect(relay.defects()).toMatchObject([{ title: 'edited', priority: 'Low' }]);
    await happens('labeled', { seconds: 2, labels: ['bug', 'urgent'] });
    expect(relay.defects()).toMatchObject([{ priority: 'High' }]);
    await happens('labeled', { seconds: 3, labels: ['bug', 'urgent', 'typo'] });
    expect(relay.defects()).toMatchObject([{ severity: 'Minor' }]);
    aPersonSets({ severity: 'Critical' });
    await happens('unlabeled', { seconds: 4, labels: ['bug', 'urgent'] });
    expect(relay.defects()).toMatchObject([{ severity: 'Critical' }]);
    await happens('labeled', { seconds: 5, labels: ['bug', 'urgent', 'typo'] });
    expect(relay.defects()).toMatchObject([{ severity: 'Minor' }]);
  });

  it.each([
    ['was carried out', 'after work'],
    ['was not', 'before work'],
  ] as const)('whose answer was lost is sent again, but nothing else: it %s', async (_, when) => {
    relay = await startRelay({ config: exampleConfig(settings) });
    await happens('opened');
    relay.sandbox.setFault({ kind: 'cut', when, operation: '/defects/update', times: 1 });
    await tell('edited', { seconds: 1, title: 'one' });
    await relay.work();
    aPersonSets({ priority: 'Low' });
    // The title is the first again, and the defect's title is unknown.
    await happens('edited', { seconds: 2 });
    expect(relay.defects()).toMatchObject([{ title: issueEvent('opened').issue.title, priority: 'Low' }]);
  });

  it('a lost update is over when the issue no longer has a value for its field', async () => {
    relay = await startRelay({ config: exampleConfig({ priority: { labels: { urgent: 'High', later: 'Low' } } }) });
    await happens('opened', { labels: ['bug', 'urgent'] });
    relay.sandbox.setFault({ kind: 'cut', when: 'before work', operation: '/defects/update', times: 1 });
    await tell('labeled', { seconds: 1, labels: ['bug', 'later'] });
    await relay.work();
    await happens('unlabeled', { seconds: 2 });
    expect(await relay.jobs('succeeded')).toHaveLength(3);
  });
});

/** True for the nth write of the link. */
function writeOfLink(n: number): (body: string) => boolean {
  let left = n;
  return (body) => body.includes('"link#issue-9001"') && body.includes('ConditionExpression') && --left === 0;
}

describe('a defect that a discarded job had created', () => {
  /**
   * The defect was created without an answer, and the relay could not find it, because the service's list lagged
   * behind.
   */
  beforeEach(async () => {
    const [example = expect.fail('there is no example')] = relay.sandbox.data.defects;
    relay.sandbox.setFault({ kind: 'server-error', when: 'before work', operation: '/defects/create', times: 1 });
    await happens('opened');
    relay.clock.now += 10 * MINUTE_MS;
    await discard(await only('parked'));
    await relay.workToTheEnd();
    const marker = heldBy(await relay.links.get('issue-9001')).claim?.marker;
    relay.sandbox.data.defects.push({ ...example, defect_id: 'late', project_id: PROJECT, description: `… ${marker}` });
  });

  it.each(
    (['the answer is lost to', 'the worker stops before'] as const).flatMap((what) =>
      [1, 2, 3].map((n) => [what, n] as const),
    ),
  )('is found, and not created again, if %s write %i of the link', async (what, n) => {
    await tell('edited', { seconds: 1, title: 'edited' });
    if (what === 'the answer is lost to') relay.table.loseAnswer(writeOfLink(n));
    else {
      relay.table.stopAt(writeOfLink(n));
      await relay.work().catch(() => {});
      relay.table.goOn();
      relay.clock.now += 5 * MINUTE_MS;
      await relay.sweep();
    }
    await relay.workToTheEnd();
    expect(relay.defects()).toMatchObject([{ title: 'edited' }]);
    expect(await relay.jobs('parked')).toEqual([]);
  });

  it('is searched for before another creation, even by the job of a later event', async () => {
    const [key = expect.fail('there is no key')] = relay.sandbox.keys;
    key.scopes = [];
    await happens('edited', { seconds: 1, title: 'edited' });
    expect(await relay.jobs('parked')).toHaveLength(1);
    key.scopes = ['*'];
    await happens('edited', { seconds: 2, title: 'edited again' });
    expect(relay.defects()).toMatchObject([{ title: 'edited again' }]);
  });
});

describe('a cleared link', () => {
  it.each(['again', 'search'] as const)('is given what was created, which `resolve --%s` finds', async (how) => {
    relay.sandbox.setFault({ kind: 'cut', when: 'after work', operation: '/defects/create', times: 1 });
    relay.sandbox.setFault({ kind: 'server-error', when: 'on arrival', operation: '/defects/create', skip: 1 });
    relay.sandbox.setFault({ kind: 'server-error', when: 'on arrival', operation: '/defects/list' });
    await happens('opened');
    const job = await only('parked');
    expect(job.parked?.kind).toBe('outcome unknown');
    expect(relay.defects()).toHaveLength(1);
    relay.sandbox.clearFaults();
    relay.clock.now += 10 * MINUTE_MS;
    await clearLink(relay, 1);
    if (how === 'search') await requeueJob(job, relay.stores);
    else await resolveJob(job, 'again', { ...relay.stores, by: 'alice', clock: () => relay.clock.now });
    await relay.workToTheEnd();
    expect(relay.defects()).toHaveLength(1);
    expect(await relay.jobs('parked')).toEqual([]);
  });

  it('does not get the cleared defect back', async () => {
    const defectOf = async () => heldBy(await relay.links.get('issue-9001')).defect?.id;
    relay = await startRelay({ github: { token: 'ghp_test' } });
    relay.github.refusal = { status: 403, message: 'Resource not accessible by personal access token' };
    await tell('opened');
    await relay.work();
    const cleared = await defectOf();
    expect(cleared).toBeDefined();
    await clearLink(relay, 1);
    relay.github.refusal = undefined;
    await relay.replay();
    expect(await defectOf()).not.toBe(cleared);
  });
});

describe("an issue's name", () => {
  const NAME = 'Codertocat/Hello-World#1';

  it('belongs to another issue that is opened under it, whatever arrives late for the first', async () => {
    await happens('opened', { id: 1, seconds: 1 });
    await happens('opened', { id: 2, seconds: 2, number: 1 });
    await tell('opened', { id: 1, seconds: 1 });
    expect(await relay.links.named(NAME)).toBe('issue-9002');
    for (const entity of ['issue-9001', 'issue-9002']) expect((await relay.links.get(entity)).life).toBe('made');
  });

  it.each([
    ['a defect', ['opened'], 'issue-9001'],
    ['a defect, changed,', ['opened', 'edited'], 'issue-9001'],
    ['no defect', ['unlabeled'], undefined],
  ] as const)('with %s lasts as long as its link', async (_, actions, entity) => {
    for (const [seconds, action] of actions.entries()) {
      await happens(action, { seconds, labels: action === 'unlabeled' ? [] : ['bug'] });
    }
    relay.clock.now += 31 * DAY_MS;
    expect(await relay.links.named(NAME)).toBe(entity);
    expect((await relay.links.get('issue-9001')).newest?.name).toBe(entity && NAME);
    await happens('opened', { seconds: 31 * 86_400 });
    expect((await relay.links.get('issue-9001')).life).toBe('made');
  });
});
