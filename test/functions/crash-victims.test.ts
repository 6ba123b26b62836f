import { github } from 'partner-relay';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { customGroup } from '../../lib/engine/line/queue.ts';
import { createProcessRuns } from '../../lib/engine/record/process-runs.ts';
import type { Steps } from '../../lib/triggers/steps.ts';
import { contextUntil, functionsOf } from '../../local/world/functions.ts';
import { issueEvent } from '../issue-events.ts';
import { startRelay, type TestRelay } from '../relay.ts';
import { command } from '../slack-requests.ts';

/** Whether the service, GitHub and Slack answer. */
let answers: boolean;
/** The number of calls that wait for an answer. */
let held: number;
let relay: TestRelay;
beforeEach(async () => {
  answers = true;
  held = 0;
  relay = await startRelay({
    own,
    runtime: {
      fetch(...request) {
        if (answers) return fetch(...request);
        held++;
        return new Promise(() => {});
      },
    },
  });
});

/** An automation with a repeatable call. Before the call's answer, its journal is empty. */
const own = {
  ship: {
    on: github('issues.opened', {
      input: {},
      job: ({ issue: { id, title } }) =>
        title === 'ship' ? { happened: [id], entity: `issue ${id}`, input: {} } : 'not mine',
    }),
    async run(_: object, { call }: Steps) {
      await call('go', 'work-items/checklist/items/complete', { item_id: 101, is_completed: true });
      return 'called';
    },
  },
};
/** One id for each of the two groups. */
const SHIPS = [0, 1].map((group) =>
  [100, 101, 102, 103, 104, 105].find((id) => customGroup(`ship issue ${id}`).endsWith(String(group))),
);

const ship = async (...ids: readonly (number | undefined)[]) => {
  for (const id of ids) {
    const event = issueEvent('opened', { id, labels: [], title: 'ship' });
    expect(await relay.post('issues', event)).toMatchObject({ status: 202 });
  }
};
const open = async (...ids: readonly number[]) => {
  for (const id of ids) expect(await relay.post('issues', issueEvent('opened', { id }))).toMatchObject({ status: 202 });
};

/** A worker process that takes several messages at once, as that of `npm start` does. */
async function startProcess() {
  const runtime = { ...relay.runtime, runs: createProcessRuns() };
  const { make, work } = functionsOf(() => runtime);
  await make('job-worker');
  let underWay = 0;
  return {
    /** Takes messages until all work under way waits for answers. */
    async work(): Promise<void> {
      for (;;) {
        const received = relay.stack.queues.flatMap((queue) =>
          Array.from({ length: 10 }, () => queue.receive()).flatMap((message) => (message ? [{ queue, message }] : [])),
        );
        if (received.length === 0) return;
        for (const { queue, message } of received) {
          underWay++;
          // Middy would end hanging work only long after the test.
          const delivered = work(
            queue,
            message,
            contextUntil(60_000, () => 0),
          ).catch(() => {});
          void delivered.then(() => underWay--);
        }
        await vi.waitFor(() => expect(underWay).toBe(held), { timeout: 5_000, interval: 5 });
      }
    },
  };
}

/** The time after a process has died, when its leases and messages are free again. */
async function afterItsDeath(): Promise<void> {
  held = 0;
  relay.clock.now += 90_000;
  await relay.sweep();
}

/** Runs a process that dies at its first calls. */
async function killAtWork(): Promise<void> {
  answers = false;
  await (await startProcess()).work();
  await afterItsDeath();
}

/** Runs a process until all jobs have ended. */
async function workToTheEnd(): Promise<void> {
  answers = true;
  const process = await startProcess();
  for (let turn = 0; turn < 10; turn++) {
    await process.work();
    relay.clock.now += 1_000;
  }
}

/** Sends a person's command, which webhooks take while the worker hangs. */
async function find(): Promise<void> {
  answers = true;
  expect(await command(relay, 'find 1')).toMatchObject({ status: 200 });
  answers = false;
}

const running = async () => (await relay.jobs('running')).map(({ entity }) => Number(entity.split('#')[1])).sort();
const jobOf = async (id: number) => (await relay.jobs()).find(({ entity }) => entity.endsWith(`#${id}`));

describe('a process that dies while several jobs are running', () => {
  it('counts against none of them, however often: they run one after the other, and make progress', async () => {
    const ids = [1, 2, 3, 4];
    for (let kill = 0; kill < 5; kill++) {
      const now = ids.map((id) => 10 * kill + id);
      await open(...now);
      answers = false;
      await (await startProcess()).work();
      expect(await running()).toEqual(now);
      await afterItsDeath();
      expect((await relay.jobs('queued')).map((job) => job.crashes)).toEqual([[], [], [], []]);
      await workToTheEnd();
    }
    expect((await relay.jobs()).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 'succeeded'));
  });

  it('makes them suspect: one starts only alone, and no event starts beside it, except a command', async () => {
    await ship(...SHIPS);
    await killAtWork();
    const process = await startProcess();
    await process.work();
    const [suspect] = await relay.jobs('running');
    expect(suspect).toMatchObject({ crashes: [], lease: { alone: true } });
    await open(3);
    relay.clock.now += 1_000;
    await process.work();
    expect(await relay.jobs('running')).toMatchObject([{ id: suspect?.id }]);
    await find();
    await process.work();
    expect(await relay.jobs('running')).toMatchObject([{ id: suspect?.id }, { lane: 'interactive' }]);
    expect((await relay.jobs('running')).map(({ lease }) => lease?.alone)).toEqual([undefined, undefined]);
    await afterItsDeath();
    expect(await relay.stores.jobs.get(suspect?.id ?? '')).toMatchObject({ status: 'queued', crashes: [] });
    await workToTheEnd();
    expect((await relay.jobs()).map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => 'succeeded'));
  });

  it('lets no new event start before a suspect that waits for the others to end', async () => {
    await ship(...SHIPS);
    await killAtWork();
    await find();
    const process = await startProcess();
    await process.work();
    await open(3);
    await process.work();
    expect(await relay.jobs('running')).toMatchObject([{ lane: 'interactive' }]);
    // The worker does not wait for a call that outlasts its lease.
    relay.clock.now += 61_000;
    await process.work();
    expect(await relay.jobs('running')).toMatchObject([{ crashes: [] }, { lane: 'interactive' }]);
  });
});

it('each crash of a suspect that ran alone counts, and three in a row park it', async () => {
  await ship(...SHIPS);
  for (let kill = 0; kill <= 5; kill++) await killAtWork();
  const crashes = (await relay.jobs()).map(({ id, crashes = [] }) => [id, crashes.length] as const);
  expect(crashes.reduce((sum, [, count]) => sum + count, 0)).toBe(5);
  await workToTheEnd();
  const ends = (await relay.jobs()).map(({ id, status, parked }) => [id, parked?.reason ?? status]);
  const why = (count: number) => `the worker crashed ${count} times in a row on this job, which made no progress`;
  const expected = crashes.map(([id, count]) => [id, count < 3 ? 'succeeded' : why(count)]);
  expect(Object.fromEntries(ends)).toEqual(Object.fromEntries(expected));
});

it('a run is alone until another one starts beside it, in any order', async () => {
  await open(1);
  answers = false;
  const process = await startProcess();
  await process.work();
  expect((await jobOf(1))?.lease?.alone).toBe(true);
  await open(2);
  await process.work();
  expect((await relay.jobs('running')).map(({ lease }) => lease?.alone)).toEqual([undefined, undefined]);
  await afterItsDeath();
  expect((await relay.jobs()).map(({ crashes }) => crashes)).toEqual([[], []]);
});
