import { expect, it } from 'vitest';
import { createWaitingLines } from '../../lib/engine/line/waiting-line.ts';
import type { StandingJob } from '../../lib/engine/record/job-item.ts';
import { createBudget } from '../../lib/service/budget/budget.ts';
import type { Lane } from '../../lib/service/budget/lanes.ts';
import { createBreakers } from '../../lib/service/connection/breakers.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';

const limits = { perMinute: 20, perDay: 5_000 };

let relay: TestRelay;

/** @param ended a job that has left the line */
type Shown = (ended: StandingJob, standing: StandingJob[]) => StandingJob[];

const called = (job: StandingJob) => ({ ...job, slotAt: relay.clock.now + 1_000 });

it.each<[string, number, Lane, Shown]>([
  ['who moves the lines was slow after it had read the index', 3_000, 'interactive', () => []],
  ['the index still shows a job as waiting that was called', 0, 'interactive', (ended) => [ended]],
  ['the index still shows a job as called that has ended', 0, 'interactive', (ended) => [called(ended)]],
  [
    'one of many that the index shows as waiting is called, and ends at once',
    0,
    // This lane leaves some slots to the line.
    'background',
    (ended, standing) => [...standing, ...Array(4).fill({ ...ended, createdAt: Infinity })],
  ],
])('a job in a line that is moved is called, although %s', async (_, stalledMs, taking, shown) => {
  relay = await startRelay({ config: exampleConfig({ comment: false }, { connection: { limits } }) });
  const clock = () => relay.clock.now;
  const { jobs, queue, table } = relay.stores;
  const budget = createBudget({ table, clock });
  const line = () => jobs.line('main', 'background', 100);
  async function stands(id: number): Promise<void> {
    await relay.post('issues', issueEvent('opened', { id }));
    await relay.work();
  }
  async function take(lane: Lane): Promise<void> {
    while ((await budget.requestSlot({ connection: 'main', limits, lane })).granted);
  }
  // The relay stores the budget of the key.
  await stands(3);
  await take('interactive');
  await stands(1);
  const [{ slotAt: _slotAt, ...first } = expect.fail('no job stands in line')] = await line();
  relay.clock.now += 70_000;
  await relay.work();
  expect(await line()).toEqual([]);
  await budget.planLine('main', limits, { atOnce: true, joined: 'background' });
  await take(taking);
  if (taking === 'background') await stands(4);
  relay.clock.now += 5_000;

  let isFirstLook = true;
  const lines = createWaitingLines({
    jobs: {
      ...jobs,
      async line(connection, lane, ...others) {
        if (lane !== 'background' || !isFirstLook) return jobs.line(connection, lane, ...others);
        isFirstLook = false;
        const standing = await line();
        await take(taking);
        await stands(2);
        relay.clock.now += stalledMs;
        return shown(first, standing);
      },
    },
    queue: {
      ...queue,
      async send(job) {
        await queue.send(job);
        if (taking === 'background') await relay.work();
      },
    },
    budget,
    breakers: createBreakers({ table, clock, random: Math.random }),
    clock,
    sleep: async (ms) => {
      relay.clock.now += ms;
    },
  });
  await lines.moveOn({ name: 'main', limits });
  const slots = taking === 'background' ? [] : [expect.any(Number)];
  expect((await line()).map(({ slotAt }) => slotAt)).toEqual(slots);
});
