import { afterEach, beforeEach, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { github, type Run } from '#relay';
import { ownInWords } from '../../cli/plan.ts';
import { ownOf, PROJECT, startRelay, type TestRelay } from '../relay.ts';

const complete = 'work-items/checklist/items/complete';
const done = { item_id: 101, is_completed: true };
const on = github('issues.opened', {
  input: { title: z.string() },
  job: ({ issue }) => ({ happened: [issue.id], input: { title: issue.title } }),
});
const run: Run<typeof on> = async ({ title }, { call, create, until, say }) => {
  await call('complete', complete, done);
  await create('defect', 'defects/create', { project_id: PROJECT, title });
  await until('later', '2026-11-21T10:00:00Z');
  await say('tell', { channel: 'C0PLATFORM' }, 'later');
  return 'done';
};

let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay({ own: { follow: { on, run } } });
  const { issueEvent } = await import('../issue-events.ts');
  await relay.post('issues', issueEvent('opened', { labels: [], title: 'Waits' }));
  await relay.work();
  expect(await relay.jobs()).toMatchObject([{ automation: 'follow', status: 'waiting' }]);
});
afterEach(() => relay.close());

async function plan(files: Record<string, { on: unknown; run: Run<typeof on> }>): Promise<string> {
  const { config } = relay.runtime;
  const before = relay.sandbox.requests;
  const lines = await ownInWords(ownOf(files, config), config, relay.stores, 'local');
  expect(relay.sandbox.requests).toBe(before);
  return lines.join('\n');
}

it.each<[string, Run<typeof on>, string]>([
  ['the same code', run, '1 job under way, 1 as before'],
  [
    'a renamed call',
    async (_, { call }) => {
      await call('finish', complete, done);
      return 'done';
    },
    `repeats the step 'complete' (${complete}) as 'finish'`,
  ],
  [
    'a renamed creation',
    async ({ title }, { call, create }) => {
      await call('complete', complete, done);
      await create('bug', 'defects/create', { project_id: PROJECT, title });
      return 'done';
    },
    "parks: the step 'defect' of this job has carried out defects/create",
  ],
  [
    'a removed step',
    async (_, { call }) => {
      await call('complete', complete, done);
      return 'done';
    },
    "ends, and skips 'defect', 'later'",
  ],
  [
    'a step in front of others',
    async ({ title }, { say, call, create }) => {
      await say('first', { channel: 'C0PLATFORM' }, 'hello');
      await call('complete', complete, done);
      await create('defect', 'defects/create', { project_id: PROJECT, title });
      return 'done';
    },
    '? follow: issues.opened of Codertocat/Hello-World#1',
  ],
  [
    'a step with another operation',
    async (_, { list }) => {
      await list('complete', 'tasks/list', { project_id: PROJECT }, ({ name }) => name);
      return 'done';
    },
    "before 'complete', 'defect', 'later', which is done; it may skip it",
  ],
])('a plan names what becomes of a job under way: %s', async (_, changed, said) => {
  expect(await plan({ follow: { on, run: changed } })).toContain(said);
});

it('a plan names the automations that are gone, and those that are new', async () => {
  const shown = await plan({ renamed: { on, run } });
  expect(shown).toContain('! follow has jobs under way and no file');
  expect(shown).toContain('+ renamed has made no job that the relay still has');
  expect(shown).toContain('GitHub must send issues.opened');
});
