import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { command as onCommand, type Run } from 'partner-relay';
import { beforeEach, expect, it } from 'vitest';
import { inProcess } from '../../cli/own-runs.ts';
import { jobsInWords } from '../../cli/plan.ts';
import { readCustomAutomations } from '../../lib/automations/custom/folder.ts';
import type { Steps } from '../../lib/triggers/steps.ts';
import { runRelay, targetOf } from '../cli/run-command.ts';
import { issueEvent } from '../issue-events.ts';
import { newFolder, withPackage } from '../new-folder.ts';
import { customOf, PROJECT, startRelay, type TestRelay } from '../relay.ts';
import { command } from '../slack-requests.ts';
import { opened } from './opened.ts';

const onLater = onCommand('later', { does: 'waits', example: 'later' });
const complete = 'work-items/checklist/items/complete';
const done = { item_id: 101, is_completed: true };
type Step = (steps: Steps, title: string) => Promise<unknown>;
const inOrder =
  (...all: Step[]): Run<typeof opened> =>
  async ({ title }, steps) => {
    for (const step of all) await step(steps, title);
    return 'done';
  };
const calls =
  (name = 'complete'): Step =>
  ({ call }) =>
    call(name, complete, done);
const creates =
  (name = 'defect'): Step =>
  ({ create }, title) =>
    create(name, 'defects/create', { project_id: PROJECT, title });
const waits: Step = ({ until }) => until('later', '2026-11-21T10:00:00Z');
const says =
  (name = 'tell'): Step =>
  ({ say }) =>
    say(name, { channel: 'C0PLATFORM' }, 'later');
const lists: Step = ({ list }) => list('complete', 'tasks/list', { project_id: PROJECT }, ({ name }) => name);
const run = inOrder(calls(), creates(), waits, says());

let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay({ own: { follow: { on: opened, run } } });
  await relay.post('issues', issueEvent('opened', { labels: [], title: 'Waits' }));
  await relay.work();
  expect(await relay.jobs()).toMatchObject([{ automation: 'follow', status: 'waiting' }]);
});

async function plan(files: Record<string, { on: unknown; run: Run<typeof opened> }>): Promise<string> {
  const { config } = relay.runtime;
  const before = relay.sandbox.requests;
  const lines = await jobsInWords(customOf(files, config), config, relay.stores, 'local');
  expect(relay.sandbox.requests).toBe(before);
  return lines.join('\n');
}

it.each<[string, Run<typeof opened>, string]>([
  ['the same code', run, '1 unfinished job; 1 would continue unchanged'],
  ['a renamed call', inOrder(calls('finish')), `repeats the step 'complete' (${complete}) as 'finish'`],
  [
    'a renamed creation',
    inOrder(calls(), creates('bug')),
    "parks: the step 'defect' of this job has carried out defects/create",
  ],
  ['a removed step', inOrder(calls()), "ends, and skips 'defect', 'later'"],
  [
    'a step in front of others',
    inOrder(says('first'), calls(), creates()),
    '? follow: issues opened in Codertocat/Hello-World#1',
  ],
  [
    'a step with another operation',
    inOrder(lists),
    "before these steps, which are done: 'complete', 'defect', 'later'; the job may skip them",
  ],
])('a plan says what happens to a job under way: %s', async (_, changed, said) => {
  expect(await plan({ follow: { on: opened, run: changed } })).toContain(said);
});

/** A folder of automations with this code. */
function folderWith(code: string): string {
  const folder = withPackage(newFolder());
  const text = `import * as z from 'partner-relay/zod';
import { github } from 'partner-relay';
export const on = github('issues.opened', { input: { title: z.string() }, job: () => 'none' });
export const run = async ({ title }, { stage, call, create, until, say, stop }) => {
${code}
};
`;
  writeFileSync(join(folder, 'follow.ts'), text);
  return folder;
}

const asBefore = `await call('complete', '${complete}', ${JSON.stringify(done)}, () => null);
await create('defect', 'defects/create', { project_id: '${PROJECT}', title });
`;

const listing = (name: string) => `await call(${name}, "tasks/list", {});`;
const REJECTS = 'void Promise.reject(new TypeError("a"));';

it.each<[string, string, string]>([
  [
    'continues as in a worker',
    `${asBefore} await until('later', '2026-11-21T10:00:00Z');`,
    '1 would continue unchanged',
  ],
  ['has no environment', listing('"seen " + Object.keys(process.env)'), "the step 'seen ' before"],
  ['knows its stage', listing('"in " + stage'), "the step 'in local' before"],
  ['gets what steps kept', `${asBefore} return 'done';`, "ends, and skips 'later'"],
  ['can end its job', `${asBefore} stop('no');`, "ends, and skips 'later'"],
  ['can make a mistake', 'undefined.x;', 'parks: TypeError: Cannot read properties of undefined'],
  ['can leave a mistake behind', `${REJECTS} await new Promise(() => {});`, 'TypeError: a'],
  ['gets a warning for what may differ', `${asBefore} return String(new Date());`, '! automations/follow.ts:'],
  ['can end its process', 'process.exit();', 'parks: run of automations/follow.ts ends its process'],
])("a team's code, in its own process, %s", async (_, code, said) => {
  const readConfig = async () => relay.runtime.config;
  const given = { open: async () => targetOf(relay), readConfig, customFolder: folderWith(code) };
  expect(await runRelay(given, 'plan')).toContain(said);
});

it('a plan does not wait for endless code', async () => {
  const { config } = relay.runtime;
  const folder = folderWith('for (;;);');
  const { custom, faults } = await readCustomAutomations(config, folder);
  expect(faults).toEqual([]);
  const runs = inProcess(custom, folder, 2_000);
  const lines = await jobsInWords(runs.own, config, relay.stores, 'local').finally(runs.close);
  expect(lines.join()).toContain('parks: run of automations/follow.ts does not end within 2 s');
});

it('a plan follows the job of a command: the journal has its person', async () => {
  const later: Run<typeof onLater> = async (_, { asker, until, say }) => {
    await until('later', '2026-11-21T10:00:00Z');
    await say('tell', 'asker', `${asker.name}, it is later`);
    return 'done';
  };
  relay = await startRelay({ own: { later: { on: onLater, run: later } } });
  await command(relay, 'later');
  await relay.work();
  const files = customOf({ later: { on: onLater, run: later } }, relay.runtime.config);
  const lines = await jobsInWords(files, relay.runtime.config, relay.stores, 'local');
  expect(lines.join('\n')).toContain('1 unfinished job; 1 would continue unchanged');
});

it('a plan names removed and new automations', async () => {
  const shown = await plan({ renamed: { on: opened, run } });
  expect(shown).toContain('cannot run without automations/follow.ts: restore the file, or discard the job');
  expect(shown).toContain('+ renamed has no jobs yet');
  expect(shown).toContain('Not checked here: the events that GitHub sends (issues.opened)');
});
