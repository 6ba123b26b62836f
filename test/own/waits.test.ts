import { setImmediate } from 'node:timers/promises';
import { github, command as onCommand } from 'partner-relay';
import * as z from 'partner-relay/zod';
import { describe, expect, it, vi } from 'vitest';
import type { Job } from '../../lib/engine/record/job.ts';
import type { Steps } from '../../lib/triggers/steps.ts';
import type { FifoQueue, ReceivedMessage } from '../../local/fifo-queue.ts';
import { contextUntil, functionsOf } from '../../local/world/functions.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { command, MIRA, TOMASZ } from '../slack-requests.ts';

let relay: TestRelay;

/** The number of jobs that call the service, and of those that need no slot. */
const CALLING = 5;
const HELLOS = [...'abcdef'].map((letter) => `hello-${letter}`);
const SAYING = HELLOS.length;
const RETRY_AFTER_S = [30, 100];

async function calls(_: object, { call }: Steps): Promise<string> {
  await call('go', 'work-items/checklist/items/complete', { item_id: 101, is_completed: true });
  return 'called';
}

async function says(_: object, { say }: Steps): Promise<string> {
  await say('tell', { channel: 'C0PLATFORM' }, 'hello');
  return 'said';
}

const named = (usage: string, run: typeof calls) => ({
  on: onCommand(usage, { does: 'is of a team', example: usage }),
  run,
});

const opened = (title: string, run: typeof calls) => ({
  on: github('issues.opened', {
    input: {},
    job: ({ issue }) => (issue.title === title ? { happened: [issue.id], input: {} } : 'not mine'),
  }),
  run,
});

const sources = {
  commands: {
    own: {
      ship: named('ship', calls),
      ...Object.fromEntries(HELLOS.map((word) => [word, named(word, says)])),
    },
    act: async (what: string, id: number) => {
      const [word = '', userId] = what === 'ship' ? ['ship', MIRA] : [HELLOS[id], TOMASZ];
      expect(await command(relay, word, { userId })).toMatchObject({ status: 200 });
    },
  },
  events: {
    own: { ship: opened('ship', calls), hello: opened('hello', says) },
    act: async (title: string, id: number) => {
      const event = issueEvent('opened', { id: title === 'ship' ? 100 + id : id, labels: [], title });
      expect(await relay.post('issues', event)).toMatchObject({ status: 202 });
    },
  },
};

const jobsOf = async (name: string) => (await relay.jobs()).filter(({ automation }) => automation.startsWith(name));
const statuses = (jobs: readonly Job[]) => jobs.map(({ status }) => status);
const all = (count: number, status: string) => Array.from({ length: count }, () => status);

/** Jobs of a file wait in line, and are called for slots that open when the service accepts calls again. */
async function callsFromLine(source: keyof typeof sources, retryAfterSeconds: number, isAlone = true): Promise<void> {
  const { own, act } = sources[source];
  const config = exampleConfig({ comment: false }, { connection: { limits: { perMinute: 20, perDay: 5_000 } } });
  const { main } = config.connections;
  const connections = { ...config.connections, ...(!isAlone && main && { other: main }) };
  relay = await startRelay({ own, config: { ...config, connections } });
  relay.sandbox.setFault({ kind: 'rate-limited', retryAfterSeconds, times: 1 });
  await act('ship', 0);
  await relay.work();
  for (let id = 1; id < CALLING; id++) await act('ship', id);
  await relay.work();
  await relay.sweep();
  await relay.work();
  expect(statuses(await jobsOf('ship'))).toEqual(all(CALLING, 'waiting'));
}

/** Wakes sleeping messages, without a sweep. */
async function wake(): Promise<void> {
  relay.clock.now = Math.max(...(await jobsOf('ship')).map(({ dueAt = 0 }) => dueAt)) + 1_000;
}

/** Another worker, which gets its messages from the test. */
async function startWorker() {
  const { make, work } = functionsOf(() => relay.runtime);
  await make('job-worker');
  const context = contextUntil(60_000, () => 0);
  return (queue: Pick<FifoQueue, 'name' | 'delete'>, message: ReceivedMessage) => work(queue, message, context);
}

describe.each([
  ['commands', 'one connection'],
  ['events', 'one connection'],
  ['events', 'two connections'],
] as const)('jobs of a file for %s that were called from the line of %s', (source, connections) => {
  it.each(RETRY_AFTER_S)('hold up no job that needs no slot, and run at their slots, %i s later', async (seconds) => {
    await callsFromLine(source, seconds, connections === 'one connection');
    for (let id = 0; id < SAYING; id++) await sources[source].act('hello', id);
    await relay.work();
    expect(statuses(await jobsOf('hello'))).toEqual(all(SAYING, 'succeeded'));
    await wake();
    // Each run with a slot calls the next jobs.
    for (let turn = 0; turn < CALLING; turn++) {
      await relay.work();
      relay.clock.now += 10_000;
    }
    expect(statuses(await jobsOf('ship'))).toEqual(all(CALLING, 'succeeded'));
  });
});

describe('a message of a called job', () => {
  it('that arrives again after it was passed on starts no second run', async () => {
    await callsFromLine('events', 30);
    await wake();
    const [, queue] = relay.stack.queues;
    const asleep = queue?.receive();
    if (!queue || !asleep) throw new Error('a message should have woken');
    const worker = await startWorker();
    // The worker dies before it deletes the message.
    await worker({ name: queue.name, delete() {} }, asleep);
    await relay.workToTheEnd();
    expect(statuses(await jobsOf('ship'))).toEqual(all(CALLING, 'succeeded'));
    relay.clock.now += 90_000;
    await relay.work();
    expect(relay.sandbox.requests).toBe(1 + CALLING);
    expect(relay.stack.queues.map(({ size }) => size)).toEqual([0, 0]);
  });

  it("that finds a lease in its file's group leaves it, and the sweep continues the job", async () => {
    await callsFromLine('events', 30);
    await wake();
    const until = relay.clock.now + 60_000;
    for (const { id, generation } of await jobsOf('ship')) {
      await relay.stores.jobs.claim(id, generation, 'a worker that dies', until);
    }
    await relay.work();
    expect(relay.stack.queues.map(({ size }) => size)).toEqual([0, 0]);
    relay.clock.now = until;
    await relay.workToTheEnd();
    expect(statuses(await jobsOf('ship'))).toEqual(all(CALLING, 'succeeded'));
  });
});

describe('jobs of a file that are tried again', () => {
  const TRIED = 8;
  let tried: number[];
  let runs: { underWay: number; most: number };
  const own = {
    tries: {
      on: github('issues.opened', {
        input: { id: z.number() },
        job: ({ issue: { id } }) => ({ happened: [id], entity: `thing ${id}`, input: { id } }),
      }),
      async run({ id }: { id: number }) {
        const isFirst = !tried.includes(id);
        tried.push(id);
        if (isFirst) throw new Error('the first time');
        runs.most = Math.max(runs.most, ++runs.underWay);
        for (let turn = 0; turn < 20; turn++) await setImmediate();
        runs.underWay--;
        return 'done';
      },
    },
  };

  it('come when they are due, and not with the next sweep, and use at most two workers of a queue', async () => {
    tried = [];
    runs = { underWay: 0, most: 0 };
    relay = await startRelay({ own, config: exampleConfig({ comment: false }) });
    for (let id = 1; id <= TRIED; id++) await relay.post('issues', issueEvent('opened', { id, labels: [] }));
    await relay.work();
    expect(statuses(await jobsOf('tries'))).toEqual(all(TRIED, 'waiting'));
    relay.clock.now += 10_000;
    const worker = await startWorker();
    const take = (queue: FifoQueue) => {
      const messages = Array.from({ length: TRIED }, () => queue.receive()).filter((one) => one !== undefined);
      return messages.map((message) => worker(queue, message));
    };
    for (;;) {
      const taken = relay.stack.queues.flatMap(take);
      if (taken.length === 0) break;
      await Promise.all(taken);
    }
    expect(statuses(await jobsOf('tries'))).toEqual(all(TRIED, 'succeeded'));
    expect(runs.most).toBe(2);
  });
});

it('a time without a zone is in UTC, wherever the machine is', async () => {
  vi.stubEnv('TZ', 'America/New_York');
  try {
    const later = opened('later', async (_, { until }: Steps) => String(await until('later', '2026-11-29T08:00:00')));
    relay = await startRelay({ own: { later } });
    await relay.post('issues', issueEvent('opened', { id: 1, title: 'later', author_association: 'OWNER' }));
    await relay.work();
    const job = (await relay.jobs()).find(({ automation }) => automation === 'later');
    expect(job).toMatchObject({ status: 'waiting', dueAt: Date.UTC(2026, 10, 29, 8) });
  } finally {
    vi.unstubAllEnvs();
  }
});

it('a job that waits for a time in two months is woken once a day, and continues at that time', async () => {
  const DAY_MS = 86_400_000;
  const days = 60;
  let runs = 0;
  const until = '2027-01-19T12:00:00Z';
  const own = {
    later: opened('later', async (_, steps) => {
      runs++;
      await steps.until('the time', until);
      return 'done';
    }),
  };
  relay = await startRelay({ own, config: exampleConfig({ comment: false }) });
  await relay.post('issues', issueEvent('opened', { id: 1, labels: [], title: 'later' }));
  await relay.work();
  const sweepAndWork = async () => {
    for (let minute = 0; minute < 3; minute++) {
      relay.clock.now += 60_000;
      await relay.sweep();
      await relay.work();
    }
  };
  while (relay.clock.now + DAY_MS < Date.parse(until)) {
    await sweepAndWork();
    expect(statuses(await jobsOf('later'))).toEqual(['waiting']);
    relay.clock.now += DAY_MS - 180_000;
  }
  relay.clock.now = Date.parse(until);
  await sweepAndWork();
  expect(statuses(await jobsOf('later'))).toEqual(['succeeded']);
  expect(runs).toBeLessThanOrEqual(days + 2);
});
