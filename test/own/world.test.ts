import { join } from 'node:path';
import { command, github, type Run, token, webhook } from 'partner-relay';
import * as z from 'partner-relay/zod';
import { expect, it } from 'vitest';
import { readCustomAutomations } from '../../lib/automations/custom/folder.ts';
import type { RelayTest } from '../../local/trial/define-tests.ts';
import { runTest } from '../../local/trial/run-test.ts';
import { mira } from '../../sandbox/seed.ts';
import { customOf, exampleConfig } from '../relay.ts';

const config = exampleConfig();
const FOLDER = join(import.meta.dirname, '../../docs/guides/automations');
const { custom: examples } = await readCustomAutomations(config, FOLDER);
const ofExamples = (test: RelayTest) => runTest(test, config, FOLDER, examples);

const alert = (issue_id: string) => {
  const event = { issue_id, title: `Fault ${issue_id}`, web_url: 'https://sentry.example/1' };
  return { hook: 'sentry-to-defect', body: { action: 'triggered', data: { event } } };
};

it("a test says what happened before, and the earlier results do not count as the event's", async () => {
  const test = {
    before: [alert('1'), alert('2')],
    event: alert('1'),
    makes: 'nothing',
    holds: { defects: [{ title: 'Fault 1' }, { title: /2$/ }] },
  } as const;
  expect(await ofExamples(test)).toEqual([]);
  expect(await ofExamples({ ...test, holds: { defects: [{ title: 'Fault 1' }, { title: 'Fault 3' }] } })).toEqual([
    'expected a new record of defects with title "Fault 3"',
    expect.stringMatching(/^came {5}a new record of defects with .*title "Fault 2"/),
    'because  the event made no job: it is a repeat',
    expect.stringMatching(/^because/),
    expect.stringMatching(/^because/),
  ]);
});

it('a schedule makes nothing at a time that is not due', async () => {
  const event = { schedule: 'monday-tasks', at: '2026-11-28T09:00:00+01:00' };
  expect(await ofExamples({ event, makes: 'nothing' })).toEqual([]);
  expect(await ofExamples({ event, makes: {} })).toContain(
    "because  the event made no job: '0 9 * * MON' is not due at this time",
  );
});

it('an earlier record that has changed is not a new record', async () => {
  const test = {
    event: { event: 'release', action: 'published' },
    makes: { 'work-items/checklist/items/complete': { item_id: 101 } },
    holds: { checklistItems: [], tasks: [] },
  } as const;
  expect(await ofExamples(test)).toEqual([]);
});

it('a test gives tasks and users', async () => {
  const event = { command: 'block "Migrate the billing" waits' };
  const makes = {};
  const given = { tasks: [{ name: 'Migrate the billing' }], users: [{ name: 'Ada', email: 'ada@example.com' }] };
  expect(await ofExamples({ given, event, makes, says: ['Migrate the billing is blocked: waits'] })).toEqual([]);
  expect(await ofExamples({ event, makes, says: ['Migrate the billing is blocked: waits'] })).not.toEqual([]);
});

it('a test gives logged time', async () => {
  const event = { command: 'today' };
  const given = { timelogs: [{ user_id: mira, date: '2026-01-05', hours: 2.5 }] };
  expect(await ofExamples({ given, event, makes: {}, says: ['2h30m logged'] })).toEqual([]);
  expect(await ofExamples({ event, makes: {}, says: ['2h30m logged'] })).not.toEqual([]);
});

it("a test gives GitHub's answers", async () => {
  const on = command('open', { does: 'counts the open pull requests', example: 'open' });
  const run: Run<typeof on> = async (_, steps) => {
    const pulls = await steps.github('read', '/repos/acme/web/pulls?state=open', z.array(z.any()));
    return `${pulls.length} pull requests are open`;
  };
  const config = exampleConfig({}, { also: ['acme/web'] });
  const test = {
    given: { github: { '/repos/acme/web/pulls': [{ number: 1 }, { number: 2 }] } },
    event: { command: 'open' },
    makes: {},
    says: ['2 pull requests are open'],
  };
  expect(await runTest(test, config, FOLDER, customOf({ open: { on, run } }, config))).toEqual([]);
});

it('a test sets its clock, and the result for a body with another date shows the clock', async () => {
  const on = webhook({
    verify: token({ header: 'x-token' }),
    body: z.object({ at: z.string() }),
    input: {},
    job: ({ at }) => ({ happened: [at], at, input: {} }),
  });
  const custom = customOf({ dated: { on, run: async () => 'done' } }, config);
  const test = { event: { hook: 'dated', body: { at: '2026-11-28T09:00:00Z' } }, makes: {} };
  const play = (more: Partial<RelayTest>) => runTest({ ...test, ...more }, config, FOLDER, custom);
  expect(await play({ at: '2026-11-28T09:00:30Z' })).toEqual([]);
  await expect(play({})).rejects.toThrow(
    /at is 2026-11-28T09:00:00.000Z, and the clock is 2026-01-05T10:00:00.000Z; .*\. Set the clock of the test with at: '<time>'$/,
  );
  expect(await play({ at: '2026-12-28T09:00:00Z' })).toContain(
    "because  the event made no job: it happened at 2026-11-28T09:00:00.000Z, more than 29 days before 2026-12-28T09:00:00.000Z, and may have been done already. Set the clock of the test with at: '<time>'",
  );
  await expect(play({ at: 'noon' })).rejects.toThrow("at: expected a time such as 2026-01-05T10:00:00Z, found 'noon'");
});

it('an event of GitHub happens before the next event of the same issue', async () => {
  const on = github(['issues.opened', 'issues.closed'], {
    input: { state: z.string() },
    job: ({ action, issue }) => ({ happened: [issue.id, action], at: issue.updated_at, input: { state: action } }),
  });
  const run: Run<typeof on> = async ({ state }, { say }) => {
    await say('tell', { channel: 'C0PLATFORM' }, `it is ${state}`);
    return 'told';
  };
  const labels: string[] = [];
  const test = {
    before: [{ event: 'issues', labels }],
    event: { event: 'issues', action: 'closed', labels },
    makes: {},
    says: ['it is closed'],
  };
  expect(await runTest(test, config, FOLDER, customOf({ follows: { on, run } }, config))).toEqual([]);
});

it.each([
  ['given', { given: { issues: [] } }, 'given.issues: this name is unknown; there are github, tasks, users, timelogs'],
  ['before', { before: [{ comand: 'x' }] }, 'before.0.comand: this name is unknown'],
  ['set', { event: { set: { 'issue.number': 7 } } }, 'event.set: expected a list, found an object'],
  ['holds', { holds: { defect: [] } }, "holds.defect: this name is unknown; did you mean 'defects'?"],
])('a mistake in %s is refused', async (_, wrong, why) => {
  const test = { event: { command: 'block 1 x' }, makes: {}, ...wrong } as unknown as RelayTest;
  await expect(ofExamples(test)).rejects.toThrow(why);
});
