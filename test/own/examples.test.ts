import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Run } from 'partner-relay';
import { expect, it } from 'vitest';
import { readCustomAutomations } from '../../lib/automations/custom/folder.ts';
import { warningsIn } from '../../lib/automations/custom/warnings.ts';
import { defineTests } from '../../local/trial/define-tests.ts';
import { runTest } from '../../local/trial/run-test.ts';
import { customOf, exampleConfig, PROJECT } from '../relay.ts';
import { opened } from './opened.ts';

const GUIDE = join(import.meta.dirname, '../../docs/guides/automations');
/** Examples that the guide does not show. */
const MORE = join(import.meta.dirname, 'automations');
const config = exampleConfig();
const TASK = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01';
const complete = 'work-items/checklist/items/complete';

const fault = { issue_id: '4711', title: 'TypeError in cart', web_url: 'https://sentry.example/4711' };

/** Each test runs again with a kill after each step, and with each answer lost. */
const ofGuide = defineTests({
  'release-to-checklist': {
    event: { event: 'release', action: 'published' },
    makes: { [complete]: { item_id: 101, is_completed: true } },
  },
  block: {
    event: { command: 'block "Login with passkeys" waits for the certificate' },
    makes: {},
    says: [': Login with passkeys is blocked: waits for the certificate'],
  },
  'monday-tasks': {
    event: { schedule: 'monday-tasks', at: '2026-11-23T09:00:00+01:00' },
    makes: {},
    says: [/^Tasks on 2026-11-23:\n• Release checkout 2\.4 \(/],
  },
  'sentry-to-defect': {
    event: { hook: 'sentry-to-defect', body: { action: 'triggered', data: { event: fault } } },
    makes: { 'defects/create': { title: 'TypeError in cart' } },
    says: [/^Sentry 4711 is defect .+: TypeError in cart$/],
  },
});

const PULL_REQUESTS = '/repos/Codertocat/Hello-World/commits/f95f852bd8fca8fcc58a9a2d6c842781e32a215e/pulls';
const more = defineTests({
  'failed-deployment': {
    given: { github: { [PULL_REQUESTS]: [{ number: 7 }] } },
    before: [{ event: 'deployment_status' }],
    event: { event: 'deployment_status', set: ['deployment_status.state=failure'] },
    makes: { 'defects/create': { title: 'Deployment to production failed' } },
    says: [/^Deployment to production failed\. This is defect \S+\.$/],
  },
  'burn-down': {
    given: { tasks: [{ project_id: PROJECT, status: 'done' }] },
    event: { schedule: 'burn-down', at: '2026-01-13T17:30:00+01:00' },
    makes: {},
    says: [/^2026-01-13: \d of \d tasks are open, 6 h today$/],
  },
});

it.each([
  ...Object.entries(ofGuide).map((one) => [...one, GUIDE] as const),
  ...Object.entries(more).map((one) => [...one, MORE] as const),
])('the automation %s does what its test says, whatever interrupts it', async (_, test, folder) => {
  const { custom, faults, files } = await readCustomAutomations(config, folder);
  expect([...faults, ...warningsIn(files)]).toEqual([]);
  expect(await runTest(test, config, folder, custom)).toEqual([]);
});

it('the guide shows each example unchanged', () => {
  const guide = readFileSync(join(GUIDE, '../your-own-automation.md'), 'utf8');
  for (const name of Object.keys(ofGuide)) {
    const code = readFileSync(join(GUIDE, `${name}.ts`), 'utf8');
    expect(guide).toContain(`\`\`\`ts\n${code}\`\`\`\n`);
  }
});

it.each([
  [ofGuide, GUIDE],
  [more, MORE],
])('each automation has a test', (tests, cwd) => {
  const files = globSync('*.ts', { cwd }).map((file) => file.replace('.ts', ''));
  expect(Object.keys(tests).sort()).toEqual(files.sort());
});

let runs = 0;

const once: Run<typeof opened> = async (_, { say, call }) => {
  await say(`tell ${++runs}`, { channel: 'C0PLATFORM' }, 'once');
  await call('complete', complete, { item_id: 101, is_completed: true });
  return 'done';
};
const another: Run<typeof opened> = async (_, { say, call }) => {
  await call('complete', complete, { item_id: 101, is_completed: true });
  await say('tell', { channel: 'C0PLATFORM' }, `run ${++runs}`);
  return 'done';
};
const missing = expect.stringMatching(/^missing {2}a message in C0PLATFORM: run \d+$/);

it.each<[string, Run<typeof opened>, string[]]>([
  [
    'a name of a step that is another in each run',
    once,
    [expect.stringMatching(/^killed behind the step 'tell \d+':$/), 'doubled  a message in C0PLATFORM: once'],
  ],
  ['a text that is another in each run', another, ["killed behind the step 'complete':", missing]],
])('a test finds %s', async (_, run, lines) => {
  const test = { event: { event: 'issues', labels: [] }, makes: { [complete]: {} } };
  const found = await runTest(test, config, GUIDE, customOf({ interrupted: { on: opened, run } }, config));
  for (const line of lines) expect(found).toContainEqual(line);
});

it('a creation that cannot be found again may park its job, and no later step is forgotten', async () => {
  const run: Run<typeof opened> = async (_, { call, send, say }) => {
    await call('complete', complete, { item_id: 101, is_completed: true });
    await send('link', 'defects/link', { defect_id: 'a1b7f4d2-8c36-4e95-b07d-5d2c9e6f3b01', task_id: TASK });
    await say('tell', { channel: 'C0PLATFORM' }, 'done');
    return 'done';
  };
  const makes = { [complete]: {}, 'defects/link': {} };
  const test = { event: { event: 'issues', labels: [] }, makes, says: ['done'] };
  expect(await runTest(test, config, GUIDE, customOf({ interrupted: { on: opened, run } }, config))).toEqual([]);
});
