import { beforeEach, describe, expect, it } from 'vitest';
import { createWaitingLines } from '../../lib/engine/line/waiting-line.ts';
import { resumeForPerson } from '../../lib/engine/operate/resume.ts';
import { continuesAt, newsOf } from '../../lib/engine/record/job.ts';
import { createBudget } from '../../lib/service/budget/budget.ts';
import type { Lane } from '../../lib/service/budget/lanes.ts';
import { createBreakers } from '../../lib/service/connection/breakers.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { command } from '../slack-requests.ts';

const MINUTE = 60_000;

let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay();
});

const outcomes = async () => (await relay.jobs()).map((job) => [job.status, newsOf(job)]);

describe("a person's job", () => {
  it('does not wait for a retry of another job', async () => {
    relay.sandbox.setFault({ kind: 'server-error', operation: '/users/list' });
    await command(relay, 'log 2h "Login with passkeys"');
    await command(relay, 'done 101', { triggerId: 'second' });
    await relay.work();
    expect(await outcomes()).toEqual([
      ['waiting', expect.stringContaining('users/list')],
      ['succeeded', 'completed checklist item 101'],
    ]);
    relay.sandbox.clearFaults();
    await relay.workToTheEnd();
    expect((await relay.jobs()).map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
  });

  it('is served before a backlog that waits for the same minute', async () => {
    relay = await startRelay({
      config: exampleConfig({ comment: false }, { connection: { limits: { perMinute: 20 } } }),
    });
    for (let id = 1; id <= 30; id++) await relay.post('issues', issueEvent('opened', { id }));
    await relay.work();
    expect(await relay.jobs('waiting')).not.toEqual([]);
    await command(relay, 'done 101');
    await relay.work();
    expect((await relay.jobs('succeeded')).map(({ outcome }) => outcome)).toContain('completed checklist item 101');
  });

  it('jobs in line get their slots by lane, whichever came first', async () => {
    const connection = { limits: { perMinute: 20 } };
    relay = await startRelay({ config: exampleConfig({}, { connection }) });
    relay.sandbox.setFault({ kind: 'rate-limited', retryAfterSeconds: 100, times: 1 });
    await command(relay, 'done 101');
    await relay.work();
    const [first] = await relay.jobs();
    if (!first) throw new Error('expected a job');
    const { slotAt: _, ...asked } = first;
    const byPriority = ['interactive', 'further', 'background', 'backfill'] as const;
    for (const lane of byPriority.toReversed()) {
      relay.clock.now += 1_000;
      await relay.stores.jobs.store({ ...asked, id: `${first.id}-${lane}`, entity: lane, lane }, 'others are ahead');
    }
    const { stores, clock } = relay;
    const options = { ...stores, clock: () => clock.now, random: () => 0 };
    const budget = createBudget({ ...options, sleep: async () => {} });
    const lines = createWaitingLines({ ...options, budget, breakers: createBreakers(options) });
    await lines.moveOn({ name: 'main', limits: { perMinute: 20, perDay: 5_000 } }, { atOnce: true });
    const others = (await relay.jobs()).filter(({ id }) => id !== first.id);
    const inTheirOrder = others.toSorted((a, b) => (a.slotAt ?? 0) - (b.slotAt ?? 0));
    expect(new Set(others.map(({ slotAt }) => slotAt)).size).toBe(byPriority.length);
    expect(inTheirOrder.map(({ lane }) => lane)).toEqual(byPriority);
  });

  it.each([
    [45, []],
    [46, ['this run of the worker ends before a call could end']],
  ])('a call whose slot is 4 s away, %i s into a run, leaves only if the run lasts', async (seconds, waits) => {
    const waitsNow = () => relay.log.flatMap(({ message, why }) => (message === 'job waits' ? [why] : []));
    let calls = 0;
    let waitsBefore: unknown[] = [];
    relay = await startRelay({
      config: exampleConfig({}, { connection: { limits: { perMinute: 6 } } }),
      runtime: {
        async fetch(url, init) {
          const isCall = String(url).startsWith(relay.sandbox.url);
          if (isCall && ++calls === 3) waitsBefore = waitsNow();
          const answer = await fetch(url, init);
          if (isCall && calls === 2) relay.clock.now += seconds * 1_000;
          return answer;
        },
      },
    });
    // Makes a process without the key store the key's budget.
    await command(relay, 'done 101');
    await relay.workToTheEnd();
    relay.clock.now += 2 * MINUTE;
    const budget = createBudget({ table: relay.stores.table, clock: () => relay.clock.now });
    const limits = { perMinute: 6, perDay: 5_000 };
    for (let taken = 0; taken < 5; taken++) {
      const answer = await budget.requestSlot({ connection: 'main', limits, lane: 'interactive' });
      if (answer.granted) await answer.slot.answered();
    }
    await budget.flush('main');
    // Slots are free again 3 s after the first call has ended.
    relay.clock.now += MINUTE + 1_000 - (seconds + 3) * 1_000;
    await command(relay, 'log 2h "Login with passkeys"', { triggerId: 'late' });
    await relay.workToTheEnd();
    expect(waitsBefore).toEqual(waits);
    expect(await relay.jobs('succeeded')).toHaveLength(2);
  });
});

describe('a job that waits', () => {
  it('a waiting job of a removed connection is parked', async () => {
    relay = await startRelay({
      config: exampleConfig({ comment: false }, { connection: { limits: { perMinute: 1 } } }),
    });
    for (let id = 1; id <= 3; id++) await relay.post('issues', issueEvent('opened', { id }));
    await relay.work();
    const standing = await relay.jobs('waiting');
    expect(standing.map(({ line }) => line)).toContain('main#background');
    delete relay.runtime.config.connections.main;
    relay.clock.now += 6 * 60 * MINUTE + 1_000;
    await relay.sweep();
    await relay.work();
    expect((await relay.jobs('parked')).map(({ parked }) => parked?.reason)).toContain(
      "relay.config.ts has no connection 'main'",
    );
  });

  it.each([
    ["a person's", () => command(relay, 'done 101')],
    ["an issue's", () => relay.post('issues', issueEvent('opened'))],
  ])('%s job that is resumed runs at once, each time, whichever of its messages sleeps', async (_, ask) => {
    const resume = () => {
      const { config } = relay.runtime;
      return resumeForPerson('main', 'mira', { ...relay.stores, clock: () => relay.clock.now, config });
    };
    relay.sandbox.setFault({ kind: 'key-revoked' });
    await ask();
    await relay.work();
    for (let times = 0; times < 3; times++) {
      if (times === 2) relay.sandbox.clearFaults();
      await resume();
      const [job = expect.fail('there is no job')] = await relay.jobs();
      expect([job.status, job.waits?.newest.at(-1)?.until]).toEqual(['queued', relay.clock.now]);
      await relay.work();
      expect((await relay.jobs()).map(({ status }) => status)).toEqual([times < 2 ? 'waiting' : 'succeeded']);
    }
  });

  it.each<[Lane, () => Promise<unknown>]>([
    ['interactive', () => command(relay, 'done 101')],
    ['further', () => command(relay, 'done 102', { triggerId: 'second' })],
    ['background', () => relay.post('issues', issueEvent('opened'))],
  ])(
    'a job of the lane %s that comes before a pause ends waits for the rest of it, and does not run again',
    async (lane, ask) => {
      if (lane === 'further') await command(relay, 'done 101');
      await relay.work();
      relay.sandbox.setFault({ kind: 'rate-limited', times: 1, retryAfterSeconds: 20 });
      await ask();
      await relay.pass(30_000, 100);
      const jobs = (await relay.jobs('succeeded')).filter((job) => job.lane === lane);
      expect(jobs.map(({ generation }) => generation)).toEqual([2]);
    },
  );

  it('a job that waits for the service is received only a few times, however long it waits', async () => {
    relay.sandbox.setFault({ kind: 'rate-limited' });
    await relay.post('issues', issueEvent('opened'));
    const [background] = relay.stack.queues.filter(({ name }) => name.startsWith('background'));
    const receives: number[] = [];
    const agesMs: number[] = [];
    const receive = background?.receive.bind(background);
    if (background && receive) {
      background.receive = () => {
        const message = receive();
        if (message) receives.push(message.receiveCount);
        if (message) agesMs.push(relay.clock.now - message.sentAt);
        return message;
      };
    }
    await relay.pass(100 * MINUTE, 2 * MINUTE);
    expect(Math.max(...receives)).toBeLessThan(10);
    expect(Math.max(...agesMs)).toBeLessThanOrEqual(12 * MINUTE);
    relay.sandbox.clearFaults();
    await relay.workToTheEnd();
    expect(await relay.jobs('succeeded')).toHaveLength(1);
  });
});

it('an unused slot goes to the first job in line without one, even behind many jobs with slots', async () => {
  relay = await startRelay({ config: exampleConfig({}, { connection: { limits: { perMinute: 1 } } }) });
  for (let id = 1; id <= 11; id++) await relay.post('issues', issueEvent('opened', { id }));
  await relay.work();
  const { jobs, queue, table } = relay.stores;
  const clock = () => relay.clock.now;
  const breakers = createBreakers({ table, clock, random: Math.random });
  const lines = createWaitingLines({ jobs, queue, breakers, clock, budget: createBudget({ table, clock }) });
  const slotAt = clock() + MINUTE;
  const standing = () => jobs.line('main', 'background', 100);
  for (const job of (await standing()).slice(0, -1)) await jobs.callFromLine(job, slotAt, slotAt);
  const before = (await standing()).map((job) => job.slotAt);
  expect(before).toEqual([...Array(9).fill(expect.any(Number)), undefined]);
  const [job = expect.fail('no job waits')] = await relay.jobs('waiting');
  await lines.passOn({ ...job, slotAt: slotAt + MINUTE }, { perMinute: 20, perDay: 5_000 });
  expect((await standing()).map((job) => job.slotAt)).toEqual([...before.slice(0, -1), slotAt + MINUTE]);
});

it.each([
  [{ perMinute: 6 }, 9, undefined],
  [{ perMinute: 20 }, 30, undefined],
  [{ perMinute: 120 }, 1, 20],
  [{ perMinute: 120 }, 4, 20],
])(
  'a waiting job continues at its stated time, and not during a pause: %o, %i issues, a pause of %o s',
  async (limits, issues, retryAfterSeconds) => {
    relay = await startRelay({ config: exampleConfig({ comment: false }, { connection: { limits } }) });
    if (retryAfterSeconds) relay.sandbox.setFault({ kind: 'rate-limited', times: 1, retryAfterSeconds });
    const told = new Map<string, { at: number; isForecast: boolean }[]>();
    const budget = createBudget({ table: relay.stores.table });
    for (let id = 1; id <= issues; id++, relay.clock.now += 10)
      await relay.post('issues', issueEvent('opened', { id }));
    for (let second = 0; second < 240; second++, relay.clock.now += 1_000) {
      await relay.work();
      const { pausedUntil } = await budget.view('main', { perDay: 5_000, ...limits });
      for (const job of await relay.jobs('waiting')) {
        const when = continuesAt(job);
        if (typeof when === 'object') expect(when.at).toBeGreaterThanOrEqual(pausedUntil ?? 0);
        if (typeof when === 'object') told.set(job.id, [...(told.get(job.id) ?? []), when]);
      }
    }
    const ended = new Map((await relay.jobs('succeeded')).map(({ id, wakeAt }) => [id, wakeAt]));
    expect(ended.size).toBe(issues);
    expect(told.size).toBeGreaterThan(0);
    const late = [...told].flatMap(([id, times]) =>
      times.map((time) => ({ ...time, byMs: (ended.get(id) ?? 0) - time.at })),
    );
    expect(late.filter(({ isForecast, byMs }) => Math.abs(byMs) > (isForecast ? 15_000 : 4_000))).toEqual([]);
  },
  60_000,
);

it.each([
  [5, 1],
  [60, 0],
])('a job that gets another 429, to retry in %i s, leaves %i message asleep', async (retryAfterSeconds, asleep) => {
  relay.sandbox.setFault({ kind: 'rate-limited', operation: '/defects/create', retryAfterSeconds });
  await relay.post('issues', issueEvent('opened'));
  await relay.work();
  relay.clock.now += 2 * MINUTE;
  await relay.sweep();
  await relay.work();
  expect(await relay.jobs('waiting')).toHaveLength(1);
  expect(relay.stack.queues.reduce((sum, { size }) => sum + size, 0)).toBe(asleep);
});

describe('a job that is sent again and again', () => {
  const oneLine = { connection: { limits: { perMinute: 1 } } };

  /** Sends a waiting job again, whatever it waits for, as a fault of the relay would. */
  async function sendAgain(): Promise<void> {
    const { jobs, queue } = relay.stores;
    const [job] = await relay.jobs('waiting');
    const again = job && (await jobs.requeue(job));
    // Its last message may sleep in the group of its entity.
    if (again) await queue.send({ ...again, group: `${again.generation}` });
    await relay.work();
  }

  it('is parked if its waits do not explain that, and continues after an operator replays it', async () => {
    relay = await startRelay({ config: exampleConfig({ comment: false }, oneLine) });
    for (const id of [1, 2]) await relay.post('issues', issueEvent('opened', { id }));
    await relay.work();
    for (let time = 0; time < 19; time++) await sendAgain();
    expect(await relay.jobs('parked')).toEqual([]);
    await sendAgain();
    const [parked] = await relay.jobs('parked');
    expect(parked?.parked?.reason).toBe(
      'the job was queued again 21 times without progress, more often than its waits explain; report this bug of the relay',
    );
    await relay.sweep();
    expect(relay.metrics.findLast((metric) => 'ParkedJobs' in metric)).toMatchObject({ ParkedJobs: 1 });
    await relay.replay();
    expect(await relay.jobs('succeeded')).toHaveLength(2);
  });

  it('is not parked if it waits in between, however often', async () => {
    relay = await startRelay({ config: exampleConfig({ comment: false }, oneLine) });
    relay.sandbox.setFault({ kind: 'rate-limited' });
    await relay.post('issues', issueEvent('opened'));
    for (let time = 0; time < 25; time++) {
      await relay.work();
      await sendAgain();
      relay.clock.now += MINUTE;
    }
    expect(await relay.jobs('parked')).toEqual([]);
  });
});

const sets = (status: string) => (body: string) => body.includes(`":status":{"S":"${status}"}`);

it.each<[string, (body: string) => boolean]>([
  ['the claim', sets('running')],
  ['the wait', sets('waiting')],
  ['the end', sets('succeeded')],
])('a write repeated by the SDK after a lost answer is recognized: %s', async (_, isLike) => {
  relay = await startRelay({ config: exampleConfig({ comment: false }) });
  // A temporary failure, so that the job waits once.
  relay.sandbox.setFault({ kind: 'server-error', when: 'on arrival', times: 1 });
  relay.table.loseAnswer(isLike);
  await relay.post('issues', issueEvent('opened'));
  const before = relay.clock.now;
  await relay.workToTheEnd();
  expect(relay.table.lost).toBe(1);
  expect(relay.clock.now - before).toBeLessThan(30_000);
  expect(await relay.jobs()).toMatchObject([{ status: 'succeeded', attempts: 0 }]);
});
