import { afterEach, expect, it } from 'vitest';
import { createWaitingLines } from '../../lib/engine/line/waiting-line.ts';
import type { StandingJob } from '../../lib/engine/record/job-item.ts';
import { createBudget } from '../../lib/service/budget/budget.ts';
import { createBreakers } from '../../lib/service/connection/breakers.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';

const limits = { perMinute: 20, perDay: 5_000 };

let relay: TestRelay;
afterEach(() => relay.close());

it.each([
  ['who moves the lines was slow after it had read the index', 3_000, () => []],
  ['the index still shows a job as waiting that was called', 0, (shown: StandingJob[]) => shown],
])('a job that stands in line while the lines are moved is called, although %s', async (_, stalledMs, stale) => {
  relay = await startRelay({ config: exampleConfig({ comment: false }, { connection: { limits } }) });
  const clock = () => relay.clock.now;
  const { jobs, queue, table } = relay.stores;
  const budget = createBudget({ table, clock });
  const line = () => jobs.line('main', 'background', 100);
  async function stands(id: number): Promise<void> {
    await relay.post('issues', issueEvent('opened', { id }));
    await relay.work();
  }
  // The relay notes the budget of the key.
  await stands(3);
  while ((await budget.requestSlot({ connection: 'main', limits, lane: 'interactive' })).granted);
  await stands(1);
  const [{ slotAt: _slotAt, ...first } = expect.fail('no job stands in line')] = await line();
  relay.clock.now += 70_000;
  await relay.work();
  expect(await line()).toEqual([]);
  while ((await budget.requestSlot({ connection: 'main', limits, lane: 'interactive' })).granted);
  await budget.planLine('main', limits, { atOnce: true, stood: 'background' });
  relay.clock.now += 5_000;

  let isFirstLook = true;
  const lines = createWaitingLines({
    jobs: {
      ...jobs,
      async line(connection, lane, ...others) {
        if (lane !== 'background' || !isFirstLook) return jobs.line(connection, lane, ...others);
        isFirstLook = false;
        await stands(2);
        relay.clock.now += stalledMs;
        return stale([first]);
      },
    },
    queue,
    budget,
    breakers: createBreakers({ table, clock, random: Math.random }),
    clock,
    sleep: async (ms) => {
      relay.clock.now += ms;
    },
  });
  await lines.moveOn({ name: 'main', limits });
  expect(await line()).toEqual([expect.objectContaining({ slotAt: expect.any(Number) })]);
});
