import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { createContext } from '../../lib/automations/context.ts';
import { nextStep } from '../../lib/engine/line/next-step.ts';
import { requeueJob } from '../../lib/engine/line/sweep.ts';
import { openWaitingLines } from '../../lib/engine/line/waiting-line.ts';
import { discardJob } from '../../lib/engine/operate/resume.ts';
import type { Job } from '../../lib/engine/record/job.ts';
import { type IssueFilter, planBackfill, repositoryToBackfill, storeBackfill } from '../../lib/operators/backfill.ts';
import { issueEvent } from '../issue-events.ts';
import { transferOf } from '../links/transfer.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';

const REPOSITORY = 'Codertocat/Hello-World';
const OPEN: IssueFilter = { state: 'open' };
const NOTHING = { stored: 0, underWay: 0, parked: 0, unchanged: 0 };

let relay: TestRelay;
/** Runs after GitHub has listed issues, and before the relay reads the list. */
let afterList: () => unknown = () => {};

async function start(connection = {}) {
  afterList = () => {};
  relay = await startRelay({
    config: exampleConfig({}, { connection }),
    github: { token: 'ghp_of_the_test' },
    runtime: {
      async fetch(input, init) {
        const answer = await fetch(input, init);
        if (String(input).includes('/issues?')) await afterList();
        return answer;
      },
    },
  });
}
beforeEach(() => start());

const context = () => createContext(relay.runtime, relay.stores);
const repository = () => repositoryToBackfill(relay.runtime.config, REPOSITORY);
const plan = (filter = OPEN) => planBackfill(repository(), filter, context());

/** Backfills as `partner-relay backfill --go` does. While the command sleeps, the relay works. */
function backfill({ filter = OPEN, comment = false, perMinute = 120, sleep = workFor } = {}) {
  const options = { comment, limits: { perMinute, perDay: 5_000 }, lines: openWaitingLines(relay.stores), sleep };
  return storeBackfill(repository(), filter, context(), options);
}

const workFor = (ms: number) => relay.pass(ms, ms);

const discard = (job: Job) =>
  discardJob(job, { by: 'ana', reason: 'not wanted' }, { ...relay.stores, clock: () => relay.clock.now });

type Change = Parameters<typeof issueEvent>[1];

/** Sets an issue as GitHub shows it now. @returns the event that made it so */
function exists(id: number, change: Change = {}, action = 'edited') {
  const event = issueEvent(action, { id, ...change });
  relay.github.issues.set(`${REPOSITORY}#${id}`, { ...event.issue, id: 9_000 + id });
  return event;
}

async function happens(event: ReturnType<typeof issueEvent>) {
  expect((await relay.post('issues', event)).status).toBe(202);
  relay.clock.now += 1;
}

describe('a backfill', () => {
  it('creates defects for the labelled issues of a repository, without a comment, and a rerun does nothing', async () => {
    for (let id = 1; id <= 5; id++) exists(id, { title: `Issue ${id}`, seconds: id });
    exists(6, { labels: ['question'] });
    exists(7, { state: 'closed' });
    exists(8, { pull_request: {} });
    exists(9, { title: 'x'.repeat(5_000) });
    expect(await backfill()).toEqual({ ...NOTHING, stored: 5 });
    await relay.workToTheEnd();
    const titles = relay.defects().map(({ title }) => title);
    expect(titles.sort()).toEqual([1, 2, 3, 4, 5].map((id) => `Issue ${id}`));
    expect(relay.github.comments).toEqual([]);

    const requests = relay.sandbox.requests;
    relay.clock.now += 1_000;
    expect(await plan()).toMatchObject({ calls: 0, unchanged: 5 });
    expect(await backfill()).toEqual({ ...NOTHING, unchanged: 5 });
    await relay.workToTheEnd();
    expect(relay.sandbox.requests).toBe(requests);
    expect(await relay.jobs()).toHaveLength(5);
  });

  it('comments if requested, and uses no share of strangers', async () => {
    exists(1, { user: { login: 'outsider' }, author_association: 'NONE' });
    await backfill({ comment: true });
    await relay.workToTheEnd();
    expect(relay.github.comments).toHaveLength(1);
    expect((await relay.jobs()).every(({ stranger }) => stranger === undefined)).toBe(true);
  });

  it('a plan lists exactly the calls that follow', async () => {
    const issue = fc.record({
      isPull: fc.boolean(),
      state: fc.constantFrom('open', 'closed'),
      labels: fc.constantFrom<string[]>(['bug'], ['BUG', 'urgent'], ['question'], []),
      /** What the relay knew before: nothing, the current issue, an older title, or a job that has not run. */
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
          const seconds = known === 'older' ? 5 : 0;
          exists(id, { ...fields, title: 'Newer', seconds, ...(isPull && { pull_request: {} }) });
        }
        await relay.workToTheEnd();
        for (const [index, { known, isPull, ...fields }] of issues.entries()) {
          if (known === 'under way') await happens(issueEvent('edited', { id: index + 1, ...fields, title: 'Newer' }));
        }
        // Jobs under way make their own calls.
        await relay.workToTheEnd();
        const filter = { state, ...(labels && { labels }) };
        const planned = await plan(filter);
        const requests = relay.sandbox.requests;
        const made = relay.defects().length;
        expect(await backfill({ filter })).toEqual({ ...NOTHING, stored: planned.calls, unchanged: planned.unchanged });
        await relay.workToTheEnd();
        expect(relay.sandbox.requests - requests).toBe(planned.calls);
        expect(relay.defects().length - made).toBe(planned.created);
      }),
      { numRuns: 12 },
    );
    await start();
  });

  it('reads every issue once, despite pages, seconds with many changes, and issues that change meanwhile', async () => {
    const updated_at = '2026-11-19T09:00:00Z';
    for (let id = 1; id <= 115; id++) exists(id, { updated_at });
    for (let id = 116; id <= 150; id++) exists(id, { seconds: id });
    expect(await plan()).toMatchObject({ calls: 150, leftAside: { 'pull request': 0 } });
    // While the first page is read, one of its issues is deleted, and an issue of a later page changes.
    afterList = () => {
      relay.github.issues.delete(`${REPOSITORY}#1`);
      exists(140, { seconds: 500, title: 'Changed' });
    };
    expect(await backfill()).toEqual({ ...NOTHING, stored: 150 });
    const inputs = (await relay.jobs('waiting')).map(({ input }) => Number(input.issueNumber));
    expect(inputs.sort((a, b) => a - b)).toEqual(Array.from({ length: 150 }, (_, index) => index + 1));
  });

  it.each([
    ['for the budget', undefined],
    ['for an operation that fails', { kind: 'server-error', operation: '/defects/create' } as const],
  ])('keeps jobs for a few minutes in line %s, and continues when there is room', async (_, fault) => {
    await start({ limits: { perMinute: 6 } });
    for (let id = 1; id <= 40; id++) exists(id, { seconds: id });
    if (fault) relay.sandbox.setFault(fault);
    let most = 0;
    const began = relay.clock.now;
    const sleep = async (ms: number) => {
      const waiting = await relay.jobs('waiting');
      most = Math.max(most, waiting.filter(({ line }) => line).length);
      if (waiting.length > 0 && relay.clock.now > began + 20 * 60_000) relay.sandbox.clearFaults();
      await workFor(ms);
    };
    await backfill({ perMinute: 6, sleep });
    expect(most).toBe(18);
    await relay.workToTheEnd();
    expect(relay.defects().length + (await relay.jobs('parked')).length).toBe(40);
  });

  it('waits as long as GitHub asks, and says what to do if GitHub refuses', async () => {
    exists(1);
    relay.github.refusal = { status: 403, message: 'secondary rate limit', headers: { 'retry-after': '120' } };
    const slept: number[] = [];
    const sleep = async (ms: number) => {
      slept.push(ms);
      relay.github.refusal = undefined;
    };
    expect(await backfill({ sleep })).toMatchObject({ stored: 1 });
    expect(slept).toEqual([120_000]);
    relay.github.refusal = { status: 404, message: 'Not Found' };
    await expect(backfill()).rejects.toThrow(/give the App or the token the right to read issues/);
  });

  it('leaves a parked job to an operator, and stores a discarded one again', async () => {
    exists(1, { title: '' });
    await backfill();
    await relay.workToTheEnd();
    const [parked] = await relay.jobs('parked');
    exists(1, { title: 'With a title', seconds: 5 });
    expect(await backfill()).toEqual({ ...NOTHING, parked: 1 });
    await relay.workToTheEnd();
    expect(relay.defects()).toEqual([]);
    if (parked) await discard(parked);
    await relay.workToTheEnd();
    for (let times = 0; times < 2; times++)
      expect(await backfill()).toEqual({ ...NOTHING, [times === 0 ? 'stored' : 'underWay']: 1 });
    await relay.workToTheEnd();
    expect(relay.defects()).toMatchObject([{ title: 'With a title' }]);
    // The backfill has something to do again.
    exists(1, { title: 'Another', seconds: 9 });
    expect(await backfill()).toEqual({ ...NOTHING, stored: 1 });
    await relay.workToTheEnd();
    expect(relay.defects()).toMatchObject([{ title: 'Another' }]);
  });
});

it('takes an issue again, once, while its discarded job has not ended yet', async () => {
  exists(1);
  await backfill();
  const [waiting] = await relay.jobs('waiting');
  if (waiting) await discard(waiting);
  expect(await backfill()).toEqual({ ...NOTHING, stored: 1 });
  expect(await backfill()).toEqual({ ...NOTHING, underWay: 1 });
  await relay.workToTheEnd();
  expect(relay.defects()).toHaveLength(1);
  expect(await backfill()).toEqual({ ...NOTHING, unchanged: 1 });
  expect((await relay.jobs()).map(({ status }) => status)).toEqual(['succeeded', 'not-done']);
});

it('a killed command leaves out no issue and creates no defect twice when it is run again, after every third of its writes', async () => {
  let issues = 0;
  for (let writes = 0, wasKilled = true; wasKilled; writes += 3) {
    for (let more = 0; more < 3; more++) exists(++issues, { seconds: issues });
    const kill = killAfter(writes);
    await backfill().catch(() => {});
    wasKilled = kill.end();
    await backfill();
    await relay.workToTheEnd();
    expect(relay.defects(), `after ${writes} writes`).toHaveLength(issues);
    expect(await relay.jobs(), `after ${writes} writes`).toHaveLength(issues);
  }
  expect(issues).toBeGreaterThan(6);
}, 120_000);

/** After this many writes, the table gets no request any more. */
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

const edit = () => happens(exists(1, { seconds: 5, title: 'Edited' }));
const there = issueEvent('opened', { id: 77, repository: 'a/b' });
const [went] = transferOf(issueEvent('opened', { seconds: 5 }), there);
/** Events between the reading of the page and the job of the issue. */
const meanwhile: [string, () => Promise<unknown>, { defects: number; title?: string }][] = [
  ['it is edited', edit, { defects: 1, title: 'Edited' }],
  ['an event of it is first', () => edit().then(relay.work), { defects: 1, title: 'Edited' }],
  ['its label is removed', () => happens(exists(1, { seconds: 5, labels: [] }, 'unlabeled')), { defects: 0 }],
  ['it is closed', () => happens(exists(1, { seconds: 5, state: 'closed' }, 'closed')), { defects: 1 }],
  ['it is transferred', () => happens(went), { defects: 0 }],
];

it.each(meanwhile)(
  'a backfill and the events of an issue create at most one defect: %s',
  async (_, happensMeanwhile, expected) => {
    exists(1, { title: 'First' });
    await backfill();
    expect(await relay.jobs('waiting')).toContainEqual(expect.objectContaining({ line: 'main#backfill' }));
    await happensMeanwhile();
    await relay.workToTheEnd();
    expect(relay.defects()).toHaveLength(expected.defects);
    if (expected.title) expect(relay.defects()).toMatchObject([{ title: expected.title }]);
  },
);

describe('a job of a backfill that claimed its issue and then met a limit', () => {
  beforeEach(async () => {
    exists(1);
    await backfill();
    relay.sandbox.setFault({ kind: 'rate-limited', retryAfterSeconds: 600, times: 1 });
    await workFor(60_000);
    expect(await relay.links.get('issue-9001')).toMatchObject({ life: 'claimed' });
  });

  it('leaves the claim to the job of an event', async () => {
    await happens(exists(1, { seconds: 5, title: 'Edited' }));
    await relay.work();
    const ofEvent = (await relay.jobs()).find(({ lane }) => lane === 'background');
    expect(await relay.links.get('issue-9001')).toMatchObject({ claim: { by: ofEvent?.id } });
    await relay.workToTheEnd();
    expect(relay.defects()).toMatchObject([{ title: 'Edited' }]);
  });

  it('releases its claim if it is discarded, and the next event creates the defect', async () => {
    const [waiting] = await relay.jobs('waiting');
    expect(waiting && nextStep(waiting, String, relay.clock.now)).toMatchObject({ choices: ['replay', 'discard'] });
    if (waiting) await discard(waiting);
    await relay.work();
    expect(await relay.jobs()).toMatchObject([{ status: 'not-done', outcome: 'discarded: not wanted' }]);
    expect(await relay.links.get('issue-9001')).toMatchObject({ life: 'unclaimed' });
    await relay.workToTheEnd();
    expect(relay.defects()).toEqual([]);
    await happens(exists(1, { seconds: 5, title: 'Edited' }));
    await relay.workToTheEnd();
    expect(relay.defects()).toMatchObject([{ title: 'Edited' }]);
  });
});

it.each([
  ['discards', discard],
  ['replays', (job: Job) => requeueJob(job, relay.stores, { at: relay.clock.now, by: 'ana', what: 'replayed' })],
])('the line does not wait for the sweep if an operator %s the jobs that were called from it', async (_, decide) => {
  await start({ limits: { perMinute: 6 } });
  for (let id = 1; id <= 30; id++) exists(id, { seconds: id });
  await backfill({ perMinute: 60 });
  await workFor(60_000);
  const called = (await relay.jobs('waiting')).filter(({ slotAt }) => slotAt !== undefined);
  expect(called.length).toBeGreaterThan(0);
  for (const job of called) await decide(job);
  for (let second = 0; second < 150; second++) {
    relay.clock.now += 1_000;
    await relay.work();
  }
  expect(relay.defects().length).toBeGreaterThan(3 * called.length);
});

it('two people who run the command at the same time store each job once', async () => {
  await start({ limits: { perMinute: 6 } });
  for (let id = 1; id <= 40; id++) exists(id, { seconds: id });
  let looks = 0;
  const sleep = async (ms: number) => void (await (looks++ === 0 ? backfill({ perMinute: 6 }) : workFor(ms)));
  await backfill({ perMinute: 6, sleep });
  await relay.workToTheEnd();
  expect(relay.defects()).toHaveLength(40);
  expect(await relay.jobs()).toHaveLength(40);
});

it('a waiting job of another lane cannot be discarded', async () => {
  relay.sandbox.setFault({ kind: 'rate-limited', retryAfterSeconds: 600, times: 1 });
  await happens(issueEvent('opened'));
  await relay.work();
  const [waiting] = await relay.jobs('waiting');
  expect(waiting && nextStep(waiting, String, relay.clock.now)).toMatchObject({ choices: ['replay'] });
  if (!waiting) throw new Error('no job waits');
  await expect(discard(waiting)).rejects.toThrow(
    /cannot be discarded: of waiting jobs, .* can\. Nothing to do: it waits until .* for the budget/,
  );
});

it.each([
  ['was lost', 'on arrival', 100],
  ['was carried out', 'after work', 5],
] as const)(
  'a job whose request %s can be discarded once it can no longer be carried out, whatever it waits for',
  async (_, when, times) => {
    for (let id = 1; id <= 5; id++) exists(id, { seconds: id });
    relay.sandbox.setFault({ kind: 'cut', when, operation: '/defects/create', times });
    await backfill();
    await workFor(2_000);
    relay.sandbox.setFault({ kind: 'maintenance' });
    const met = new Set<string>();
    for (let looks = 0; looks < 16; looks++) {
      await workFor(60_000);
      for (const job of await relay.jobs('waiting')) {
        const isOffered = nextStep(job, String, relay.clock.now)?.choices.includes('discard') ?? false;
        const isDone = isOffered && (await discard(job)).status === 'queued';
        met.add(`${job.waits?.newest.at(-1)?.for}: ${isDone}`);
      }
    }
    expect([...met]).toEqual(expect.arrayContaining(['outage: false', 'outage: true']));
  },
);
