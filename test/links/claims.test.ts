import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { defineConfig } from '../../lib/config/schema.ts';
import { localTime } from '../../lib/dates.ts';
import { requeueJob } from '../../lib/engine/line/sweep.ts';
import { resolveJob } from '../../lib/engine/operate/resolve.ts';
import { discardJob } from '../../lib/engine/operate/resume.ts';
import { isOutcomeUnknown, newsOf } from '../../lib/engine/record/job.ts';
import { heldBy } from '../../lib/links/link-life.ts';
import type { Fault } from '../../sandbox/faults.ts';
import { type GithubApi, startGithubApi } from '../github-api.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, PROJECT, startRelay, type TestRelay, type TestRelayOptions } from '../relay.ts';

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
  issueEvent('opened', {
    id: 2,
    seconds,
    repository: OTHER,
    extra: {
      changes: { old_issue: issueEvent('opened').issue, old_repository: { full_name: 'Codertocat/Hello-World' } },
    },
  });

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

  const waits: [string, () => Promise<void>, TestRelayOptions?][] = [
    [
      'the budget is used up',
      () => happens('opened', { id: 7 }),
      { config: exampleConfig({}, { connection: { limits: { perMinute: 1, perDay: 100 } } }) },
    ],
    ['a 429', async () => relay.sandbox.setFault({ kind: 'rate-limited', times: 1 })],
    ['an outage', async () => relay.sandbox.setFault({ kind: 'key-revoked', times: 3 })],
  ];

  it.each(
    waits.flatMap(([why, cause, options]) => [
      [why, 'while it waits', 0, cause, options] as const,
      [why, 'a minute later', 60, cause, options] as const,
      [why, 'an hour later', 3_600, cause, options] as const,
    ]),
  )('is given up: %s, the label goes, and comes back %s', async (_why, _when, seconds, cause, options) => {
    await start(options);
    await cause();
    const before = defects().length;
    await tell('labeled', { seconds: 1 });
    await relay.work();
    expect(await relay.jobs('waiting')).toHaveLength(1);
    await tell('unlabeled', { seconds: 2, labels: [] });
    if (seconds > 0) await relay.workToTheEnd();
    relay.clock.now += seconds * 1_000;
    await happens('labeled', { seconds: 3 + seconds, title: 'labelled again' });
    expect(defects().slice(before)).toMatchObject([{ title: 'labelled again' }]);
    expect(await relay.jobs('parked')).toEqual([]);
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

describe('a creation whose answer is lost', () => {
  const lost = async () => {
    relay.sandbox.setFault({ kind: 'cut', when: 'after work', operation: '/defects/create', times: 1 });
    relay.sandbox.setFault({ kind: 'maintenance', skip: 1 });
    await tell('labeled', { seconds: 1 });
    await relay.work();
    expect(defects()).toHaveLength(1);
    expect(await relay.jobs('waiting')).toHaveLength(1);
  };

  it.each([
    ['soon', 0],
    ['after the same bytes are good for anything', 10 * 60_000],
  ])('a claim is settled before the label is checked: the outage ends %s', async (_, ms) => {
    await start({ config: exampleConfig({}, { also: [OTHER] }) });
    await lost();
    await tell('unlabeled', { seconds: 2, labels: [] });
    relay.clock.now += ms;
    relay.sandbox.clearFaults();
    await relay.workToTheEnd();
    expect(defects()).toMatchObject([{ description: expect.stringContaining('No longer labelled bug.') }]);
    await happens('edited', { seconds: 3, labels: [], title: 'edited' });
    expect(defects()).toMatchObject([{ title: 'edited' }]);
    await relay.post('issues', came(4));
    await relay.workToTheEnd();
    expect(defects()).toMatchObject([{ description: expect.stringContaining('Codertocat/Other#2') }]);
    expect(await relay.jobs('parked')).toEqual([]);
  });

  it('a lost creation moves with a transfer that happens before it is settled', async () => {
    await start({ config: exampleConfig({}, { also: [OTHER] }) });
    await lost();
    await relay.post('issues', came(4));
    await relay.work();
    relay.sandbox.clearFaults();
    await relay.workToTheEnd();
    expect(defects()).toMatchObject([{ description: expect.stringContaining('Codertocat/Other#2') }]);
    expect(await relay.jobs('parked')).toEqual([]);
  });
});

describe('a transfer', () => {
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
});

describe('what has not ended', () => {
  const unknown: Fault = { kind: 'server-error', when: 'before work', operation: '/defects/create', times: 1 };

  it('a parked job does not expire, and makes the defect when it is resolved after a month', async () => {
    await start();
    relay.sandbox.setFault(unknown);
    await happens('opened');
    const { id } = await only('parked');
    relay.clock.now += 31 * DAY_MS;
    await happens('edited', { seconds: (31 * DAY_MS) / 1_000, title: 'a month later' });
    expect(await only('parked')).toMatchObject({ id });
    await resolveJob(await only('parked'), 'again', { ...relay.stores, by: 'alice', clock: () => relay.clock.now });
    await relay.workToTheEnd();
    expect(defects()).toMatchObject([{ title: 'a month later' }]);
  });

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

describe('resolve --again', () => {
  const parked = async () => {
    await start();
    relay.sandbox.setFault({ kind: 'server-error', when: 'before work', operation: '/defects/create', times: 1 });
    await happens('opened');
    return only('parked');
  };
  const again = async () =>
    resolveJob(await only('parked'), 'again', { ...relay.stores, by: 'alice', clock: () => relay.clock.now });

  it('resolve --again is refused while the same bytes can still be carried out', async () => {
    await parked();
    await expect(again()).rejects.toThrow(
      `may still be executed until ${localTime(Date.parse('2026-11-20T10:06:00Z'))}`,
    );
    relay.clock.now += 6 * 60_000;
    await again();
    await relay.workToTheEnd();
    expect(defects()).toHaveLength(1);
  });
});

describe('an update', () => {
  const settings = {
    priority: { default: 'Medium', labels: { urgent: 'High' } },
    severity: { labels: { typo: 'Minor' } },
  } as const;

  it("an update keeps a person's change until the issue's value changes", async () => {
    await start({ config: exampleConfig(settings) });
    await happens('opened');
    const [defect] = defects();
    if (!defect) throw new Error('there is no defect');
    relay.sandbox.data.defects[seeded] = { ...defect, priority: 'Low' };
    await happens('edited', { seconds: 1, title: 'edited' });
    expect(defects()).toMatchObject([{ title: 'edited', priority: 'Low' }]);
    await happens('labeled', { seconds: 2, labels: ['bug', 'urgent'] });
    expect(defects()).toMatchObject([{ priority: 'High' }]);
    await happens('labeled', { seconds: 3, labels: ['bug', 'urgent', 'typo'] });
    expect(defects()).toMatchObject([{ severity: 'Minor' }]);
    relay.sandbox.data.defects[seeded] = { ...defect, severity: 'Critical' };
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
    const [defect] = defects();
    if (!defect) throw new Error('there is no defect');
    relay.sandbox.data.defects[seeded] = { ...defect, priority: 'Low' };
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
    const [defect] = defects();
    if (!defect) throw new Error('there is no defect');
    relay.sandbox.data.defects[seeded] = { ...defect, priority: 'Low' };
    await relay.post('issues', came(4));
    await relay.workToTheEnd();
    expect(defects()).toMatchObject([{ priority: 'Low', description: expect.stringContaining('Codertocat/Other#2') }]);
  });
});
