import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { repositoryToBackfill } from '../../lib/automations/backfill/backfill-issue.ts';
import type { IssueFilter } from '../../lib/automations/backfill/backfills.ts';
import { createContext } from '../../lib/automations/context.ts';
import { nextStep } from '../../lib/engine/line/next-step.ts';
import { requeueJob } from '../../lib/engine/line/sweep.ts';
import { discardJob } from '../../lib/engine/operate/discard.ts';
import { beginBackfill, setBackfill, viewBackfill } from '../../lib/intake/github/operate-backfill.ts';
import { planBackfill } from '../../lib/intake/github/plan-backfill.ts';
import { defaultKey } from '../../sandbox/sandbox.ts';
import { type GithubApi, startGithubApi } from '../github-api.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay, type TestRelayOptions } from '../relay.ts';

const REPOSITORY = 'Codertocat/Hello-World';

let relay: TestRelay;
let github: GithubApi;
let seeded: number;
/** What happens after GitHub has listed issues, and before the relay reads the list. */
let afterList: () => unknown = () => {};

beforeEach(async () => {
  afterList = () => {};
  github = await startGithubApi(() => relay.clock.now);
});
afterEach(() => Promise.all([relay.close(), github.close()]));

async function start(options: Partial<TestRelayOptions> = {}, connection = {}) {
  relay = await startRelay({
    config: exampleConfig({}, { apiUrl: github.url, connection }),
    github: { token: 'ghp_of_the_test' },
    runtime: {
      async fetch(input, init) {
        const answer = await fetch(input, init);
        if (String(input).includes('/issues?')) await afterList();
        return answer;
      },
    },
    ...options,
  });
  seeded = relay.sandbox.data.defects.length;
}

const defects = () => relay.sandbox.data.defects.slice(seeded);
const context = () => createContext(relay.runtime, relay.stores);
const repository = () => repositoryToBackfill(relay.runtime.config, REPOSITORY);
const stores = () => ({ ...relay.stores, backfills: context().backfills });
const plan = (filter: IssueFilter = { state: 'open' }) => planBackfill(repository(), filter, context());
const begin = (filter: IssueFilter = { state: 'open' }, comment = false) =>
  beginBackfill({ repository: repository(), filter, comment, expected: 0 }, stores(), relay.clock.now);
const set = (status: Parameters<typeof setBackfill>[1]) => setBackfill(REPOSITORY, status, stores());

async function view() {
  const backfill = await context().backfills.get(REPOSITORY);
  if (!backfill) throw new Error('there is no backfill');
  return viewBackfill(backfill, stores());
}

type Change = Parameters<typeof issueEvent>[1];

/** An issue as GitHub shows it now. @returns the event that made it so */
function exists(id: number, change: Change = {}, action = 'edited') {
  const event = issueEvent(action, { id, ...change });
  github.issues.set(`${REPOSITORY}#${id}`, { ...event.issue, id: 9_000 + id });
  return event;
}

async function happens(event: ReturnType<typeof issueEvent>) {
  expect((await relay.post('issues', event)).status).toBe(202);
  relay.clock.now += 1;
}

describe('a backfill', () => {
  it('turns the labelled issues of a repository into defects, without a comment, and a rerun does nothing', async () => {
    await start();
    for (let id = 1; id <= 5; id++) exists(id, { title: `Issue ${id}`, seconds: id });
    exists(6, { labels: ['question'] });
    exists(7, { state: 'closed' });
    exists(8, { pull_request: {} });
    exists(9, { title: 'x'.repeat(5_000) });
    await begin();
    await relay.workToTheEnd();
    expect(
      defects()
        .map(({ title }) => title)
        .sort(),
    ).toEqual(['Issue 1', 'Issue 2', 'Issue 3', 'Issue 4', 'Issue 5']);
    expect(github.comments).toEqual([]);
    expect(await view()).toMatchObject({ status: 'finished', counts: { done: 5, open: 0, left: 1, parked: 0 } });

    const requests = relay.sandbox.requests;
    const jobs = (await relay.jobs()).length;
    relay.clock.now += 1_000;
    expect(await plan()).toMatchObject({ calls: 0, unchanged: 5 });
    expect(await begin()).toMatchObject({ began: true });
    await relay.workToTheEnd();
    expect(relay.sandbox.requests).toBe(requests);
    // The page and the end; none for an issue.
    expect(await relay.jobs()).toHaveLength(jobs + 2);
    expect(await view()).toMatchObject({ status: 'finished', counts: { done: 5 } });
  });

  it('comments if it is asked to, and no share of strangers is used', async () => {
    await start();
    exists(1, { user: { login: 'outsider' }, author_association: 'NONE' });
    await begin({ state: 'open' }, true);
    await relay.workToTheEnd();
    expect(github.comments).toHaveLength(1);
    expect((await relay.jobs()).every(({ stranger }) => stranger === undefined)).toBe(true);
  });

  it('a plan names exactly the calls that follow', async () => {
    const issue = fc.record({
      isPull: fc.boolean(),
      state: fc.constantFrom('open', 'closed'),
      labels: fc.constantFrom<string[]>(['bug'], ['BUG', 'urgent'], ['question'], []),
      /** What the relay knew before: nothing, the issue as it is, an older title, or a job that has not run. */
      known: fc.constantFrom('nothing', 'nothing', 'all', 'older', 'under way'),
    });
    const filters = fc.record({
      state: fc.constantFrom('open' as const, 'all' as const),
      labels: fc.constantFrom<string[] | undefined>(undefined, ['urgent']),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(issue, { maxLength: 12 }), filters, async (issues, { state, labels }) => {
        await start();
        for (const [index, { isPull, known, ...fields }] of issues.entries()) {
          const id = index + 1;
          const before = { id, ...fields, title: known === 'older' ? 'Older' : 'Newer' };
          if (known === 'all' || known === 'older') await happens(issueEvent('edited', before));
          exists(id, {
            ...fields,
            title: 'Newer',
            seconds: known === 'older' ? 5 : 0,
            ...(isPull && { pull_request: {} }),
          });
        }
        await relay.workToTheEnd();
        for (const [index, { known, isPull, ...fields }] of issues.entries()) {
          if (known === 'under way') await happens(issueEvent('edited', { id: index + 1, ...fields, title: 'Newer' }));
        }
        // What is under way makes its own calls.
        await relay.workToTheEnd();
        const filter = { state, ...(labels && { labels }) };
        const planned = await plan(filter);
        const requests = relay.sandbox.requests;
        const made = defects().length;
        await begin(filter);
        await relay.workToTheEnd();
        expect(relay.sandbox.requests - requests).toBe(planned.calls);
        expect(defects().length - made).toBe(planned.created);
        const { counts, status } = await view();
        expect(status).toBe('finished');
        expect(counts).toEqual({ open: 0, done: planned.issues.length, left: 0, parked: 0 });
        await relay.close();
      }),
      { numRuns: 12 },
    );
    await start();
  });

  it('reads every issue once, over pages, seconds with many changes, and issues that change meanwhile', async () => {
    await start();
    const updated_at = '2026-11-19T09:00:00Z';
    for (let id = 1; id <= 115; id++) exists(id, { updated_at });
    for (let id = 116; id <= 150; id++) exists(id, { seconds: id });
    expect(await plan()).toMatchObject({ calls: 150, leftAside: { 'pull request': 0 } });
    // While the first page is read, an issue of it is deleted, and one of a later page is changed.
    afterList = () => {
      github.issues.delete(`${REPOSITORY}#1`);
      exists(140, { seconds: 500, title: 'Changed' });
    };
    await begin();
    await relay.work();
    const numbers = (await context().backfills.issues((await begin()).backfill)).map(({ number }) => number);
    expect(numbers).toEqual(Array.from({ length: 150 }, (_, index) => index + 1));
    expect(await relay.jobs('waiting')).toHaveLength(151);
  });

  it('waits as long as GitHub says, and says what to do if GitHub refuses', async () => {
    await start();
    exists(1);
    const { now } = relay.clock;
    github.refusal = { status: 403, message: 'secondary rate limit', headers: { 'retry-after': '120' } };
    await begin();
    await relay.work();
    expect(await relay.jobs('waiting')).toMatchObject([{ automation: 'backfill', dueAt: now + 120_000, attempts: 0 }]);
    github.refusal = { status: 404, message: 'Not Found' };
    await relay.workToTheEnd();
    const { job } = await view();
    expect(job?.parked?.reason).toMatch(/give the App or the token the right to read issues/);
    github.refusal = undefined;
    if (job) await requeueJob(job, relay.stores);
    await relay.workToTheEnd();
    expect(defects()).toHaveLength(1);
  });

  it('ends with what is not done, and why; a later replay counts', async () => {
    await start();
    exists(1, { title: '' });
    for (let id = 2; id <= 3; id++) exists(id, { seconds: id });
    await begin();
    await relay.workToTheEnd();
    expect(await view()).toMatchObject({
      status: 'finished',
      counts: { done: 2, parked: 1 },
      notDone: [{ number: 1, fate: 'parked', why: expect.stringContaining('status 400') }],
    });
    const [parked] = await relay.jobs('parked');
    await happens(exists(1, { seconds: 9, title: 'With a title' }));
    if (parked) await requeueJob(parked, relay.stores);
    await relay.workToTheEnd();
    expect(await view()).toMatchObject({ counts: { done: 3, parked: 0 }, notDone: [] });
  });

  it.each(['stopped', 'followed by another'] as const)('a replay runs after the backfill was %s', async (end) => {
    await start();
    exists(1);
    relay.sandbox.keys[0] = { ...defaultKey, scopes: [] };
    await begin();
    while ((await relay.jobs('parked')).length === 0) {
      await relay.work();
      relay.clock.now += 60_000;
      await relay.sweep();
    }
    if (end === 'stopped') await set(end);
    else await relay.workToTheEnd();
    relay.clock.now += 1;
    if (end !== 'stopped') await begin({ state: 'open', since: '2030-01-01T00:00:00Z' });
    relay.sandbox.keys[0] = { ...defaultKey };
    const [parked] = await relay.jobs('parked');
    if (parked) await requeueJob(parked, relay.stores, { at: relay.clock.now, by: 'ana', what: 'replayed' });
    await relay.workToTheEnd();
    expect(defects()).toHaveLength(1);
    expect((await relay.jobs()).find(({ id }) => id === parked?.id)).toMatchObject({ notDone: false });
  });

  it.each([
    ['leaves its issue, and says why', false],
    ['leaves nothing of an issue whose defect another job has made', true],
  ])('a discarded job %s', async (_, isMade) => {
    await start();
    exists(1, { title: '' });
    await begin();
    await relay.workToTheEnd();
    const [parked] = await relay.jobs('parked');
    if (isMade) await happens(exists(1, { seconds: 9, title: 'With a title' }));
    await relay.workToTheEnd();
    if (parked)
      await discardJob(
        parked,
        { by: 'ana', reason: 'not a defect' },
        { ...relay.stores, clock: () => relay.clock.now },
      );
    await relay.workToTheEnd();
    const left = { number: 1, fate: 'left', why: 'discarded: not a defect' };
    expect(defects()).toHaveLength(isMade ? 1 : 0);
    expect(await view()).toMatchObject({
      counts: { done: isMade ? 1 : 0, left: isMade ? 0 : 1, parked: 0 },
      notDone: isMade ? [] : [left],
    });
  });
});

describe('a worker that is killed', () => {
  it('leaves no issue out and makes none twice, after every third of its writes', async () => {
    await start();
    let issues = 0;
    for (let writes = 0, wasKilled = true; wasKilled; writes += 3) {
      exists(++issues, { seconds: issues });
      exists(++issues, { seconds: issues });
      relay.clock.now += 1_000;
      await begin();
      const kill = killAfter(writes);
      // The invocation fails, and its message comes again.
      await relay.work().catch(() => {});
      wasKilled = kill.end();
      await relay.workToTheEnd();
      expect(defects(), `after ${writes} writes`).toHaveLength(issues);
      expect(await view(), `after ${writes} writes`).toMatchObject({ status: 'finished', counts: { done: issues } });
    }
    expect(issues).toBeGreaterThan(10);
  }, 120_000);
});

/** After so many writes nothing reaches the table any more. */
function killAfter(writes: number): { end(): boolean } {
  const send = DynamoDBClient.prototype.send as (this: DynamoDBClient, command: object) => Promise<unknown>;
  let left = writes;
  async function sendUntilKilled(this: DynamoDBClient, command: object) {
    if (/^(Put|Update|Delete)Item/.test(command.constructor.name)) left--;
    if (left < 0) throw new Error('killed');
    return send.call(this, command);
  }
  Object.defineProperty(DynamoDBClient.prototype, 'send', { value: sendUntilKilled, configurable: true });
  return {
    end() {
      Object.defineProperty(DynamoDBClient.prototype, 'send', { value: send, configurable: true });
      return left < 0;
    },
  };
}

describe('a backfill and the events of its issues', () => {
  /** What happens after the page was read and before the job of the issue runs. */
  const meanwhile: [string, () => Promise<unknown>, { defects: number; title?: string; fate: string }][] = [
    [
      'it is edited',
      () => happens(exists(1, { seconds: 5, title: 'Edited' })),
      { defects: 1, title: 'Edited', fate: 'done' },
    ],
    [
      'an event of it is first',
      async () => {
        await happens(exists(1, { seconds: 5, title: 'Edited' }));
        await relay.work();
      },
      { defects: 1, title: 'Edited', fate: 'done' },
    ],
    [
      'its label is removed',
      () => happens(exists(1, { seconds: 5, labels: [] }, 'unlabeled')),
      { defects: 0, fate: 'left' },
    ],
    ['it is closed', () => happens(exists(1, { seconds: 5, state: 'closed' }, 'closed')), { defects: 1, fate: 'done' }],
    [
      'it is transferred',
      () =>
        happens(
          issueEvent('transferred', {
            seconds: 5,
            extra: {
              changes: {
                new_issue: { ...issueEvent('opened', { id: 77 }).issue },
                new_repository: { full_name: 'elsewhere/unknown' },
              },
            },
          }),
        ),
      { defects: 0, fate: 'left' },
    ],
  ];

  it.each(meanwhile)('make one defect at most: %s', async (_, happensMeanwhile, expected) => {
    await start();
    exists(1, { title: 'First' });
    await begin();
    await relay.work();
    expect(await relay.jobs('waiting')).toContainEqual(expect.objectContaining({ line: 'main#backfill' }));
    await happensMeanwhile();
    await relay.workToTheEnd();
    expect(defects()).toHaveLength(expected.defects);
    if (expected.title) expect(defects()).toMatchObject([{ title: expected.title }]);
    expect((await view()).counts).toMatchObject({ [expected.fate]: 1, open: 0 });
  });

  it('waits for the job of an event that makes the defect', async () => {
    await start();
    exists(1);
    relay.sandbox.setFault({ kind: 'server-error', when: 'on arrival', operation: '/defects/create', times: 1 });
    await happens(issueEvent('opened'));
    await relay.work();
    await begin();
    await relay.workToTheEnd();
    expect(defects()).toHaveLength(1);
    expect(await view()).toMatchObject({ counts: { done: 1, left: 0 } });
  });
});

describe('a job of a backfill that claimed its issue and then met a limit', () => {
  beforeEach(async () => {
    await start();
    exists(1);
    await begin();
    await relay.work();
    relay.sandbox.setFault({ kind: 'rate-limited', retryAfterSeconds: 600, times: 1 });
    relay.clock.now += 60_000;
    await relay.sweep();
    await relay.work();
    expect(await relay.links.get('issue-9001')).toMatchObject({ life: 'claimed' });
  });

  it('ends after a stop, with the defect that events may have left to it', async () => {
    await set('stopped');
    await relay.workToTheEnd();
    expect(defects()).toHaveLength(1);
    expect(await view()).toMatchObject({ status: 'stopped', counts: { done: 1, open: 0 } });
  });

  it.each(['running', 'paused'] as const)('leaves the claim to the job of an event, while it is %s', async (status) => {
    await set(status);
    const event = exists(1, { seconds: 5, title: 'Edited' });
    await happens({ ...event, issue: { ...event.issue, id: 9_001 } });
    await relay.work();
    const ofEvent = (await relay.jobs()).find(
      ({ automation, lane }) => automation === 'issue-to-defect' && lane === 'background',
    );
    expect(await relay.links.get('issue-9001')).toMatchObject({ claim: { by: ofEvent?.id } });
    await set('running');
    await relay.workToTheEnd();
    expect(defects()).toMatchObject([{ title: 'Edited' }]);
    expect(await view()).toMatchObject({ status: 'finished', counts: { done: 1 } });
  });
});

it('an outage: the jobs in line do not run again and again, and go on after it', async () => {
  await start();
  for (let id = 1; id <= 12; id++) exists(id, { seconds: id });
  await begin();
  await relay.work();
  relay.sandbox.setFault({ kind: 'maintenance' });
  for (let minute = 0; minute < 10; minute++) {
    relay.clock.now += 60_000;
    await relay.sweep();
    await relay.work();
  }
  const looks = (await relay.jobs('waiting')).map(({ waits }) => waits?.newest.at(-1)?.looks ?? 1);
  expect(Math.max(...looks)).toBeLessThanOrEqual(20);
  relay.sandbox.clearFaults();
  await relay.workToTheEnd();
  // The one that was sent when the outage began is never answered.
  expect([defects().length, (await relay.jobs('parked')).length]).toEqual([11, 1]);
});

describe('a person and a backfill', () => {
  it('pauses and resumes, also while a page is read', async () => {
    await start();
    for (let id = 1; id <= 3; id++) exists(id, { seconds: id });
    afterList = () => set('paused');
    await begin();
    await relay.work();
    for (let minute = 0; minute < 60; minute++) {
      relay.clock.now += 60_000;
      await relay.sweep();
      await relay.work();
    }
    expect(defects()).toEqual([]);
    expect(await view()).toMatchObject({ status: 'paused', counts: { open: 3 } });
    const [waiting] = await relay.jobs('waiting');
    expect(waiting && nextStep(waiting, String, relay.clock.now)).toMatchObject({
      text: 'Its backfill is paused: resume the backfill.',
      choices: [],
    });
    await set('running');
    await relay.workToTheEnd();
    expect(defects()).toHaveLength(3);
    expect(await view()).toMatchObject({ status: 'finished' });
  });

  it('stops it: what has begun is settled, and the rest is left', async () => {
    await start();
    for (let id = 1; id <= 3; id++) exists(id, { seconds: id });
    await begin();
    await relay.work();
    await set('stopped');
    await relay.workToTheEnd();
    expect(defects()).toEqual([]);
    expect(await view()).toMatchObject({
      status: 'stopped',
      counts: { left: 3, open: 0 },
      notDone: Array(3).fill(expect.objectContaining({ why: 'The backfill was stopped.' })),
    });
    await expect(set('running')).rejects.toThrow(/no backfill of .* is under way/);
    relay.clock.now += 1;
    await begin();
    await relay.workToTheEnd();
    expect(defects()).toHaveLength(3);
  });

  it('begins it twice at once and has one; with other options, it is refused', async () => {
    await start();
    exists(1);
    const begun = await Promise.all([begin(), begin()]);
    expect(begun.filter(({ began }) => began)).toHaveLength(1);
    await expect(begin({ state: 'all' })).rejects.toThrow(/with other options is under way/);
    await relay.workToTheEnd();
    expect(defects()).toHaveLength(1);
  });

  it('begins it again after a crash between its record and its first job', async () => {
    await start();
    exists(1);
    const lost = { ...stores(), jobs: { ...relay.stores.jobs, store: () => Promise.reject(new Error('killed')) } };
    const wanted = { repository: repository(), filter: { state: 'open' as const }, comment: false, expected: 1 };
    await expect(beginBackfill(wanted, lost, relay.clock.now)).rejects.toThrow('killed');
    await begin();
    await relay.workToTheEnd();
    expect(defects()).toHaveLength(1);
  });
});
