import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Target } from '../../cli/target.ts';
import * as releaseToChecklist from '../../docs/guides/automations/release-to-checklist.ts';
import { unfold } from '../../lib/automations/tests-to-scenarios/archive.ts';
import { runButton } from '../../lib/platforms/slack/command-button.ts';
import { TEAM_ID } from '../../local/slack/workspace.ts';
import { startGithubApi } from '../github-api.ts';
import { issueEvent } from '../issue-events.ts';
import { newFolder, workInNewFolder } from '../new-folder.ts';
import { exampleConfig, SIGNING_SECRET, startRelay, type TestRelay, WEBHOOK_SECRET } from '../relay.ts';
import { runRelay } from './run-command.ts';

let relay: TestRelay;
let target: Target;

beforeEach(async () => {
  workInNewFolder();
  const tests = { workflows: ['ci.yml'], artifacts: ['junit'], status: { passed: 'passed', failed: 'failed' } };
  relay = await startRelay({
    config: exampleConfig({}, { also: ['acme/web'], checkPullRequest: {}, tests }),
    own: { 'release-to-checklist': releaseToChecklist },
  });
  // The events of these commands happen now.
  relay.clock.now = Date.now();
  const { origin: url } = new URL(relay.url);
  const { variables } = relay.stack;
  target = {
    githubWebhookUrl: relay.url,
    slackWebhookUrl: relay.slackUrl,
    stores: relay.stores,
    running: { url, logFile: '', console: url, sandbox: relay.sandbox.url, variables },
  };
});
afterEach(() => {
  process.exitCode = undefined;
  vi.unstubAllEnvs();
});

const send = (...words: string[]) => runRelay({ open: async () => target }, 'send', ...words);

interface Sent {
  delivery: string;
  status: number;
  answer: { jobs: string[]; ignored?: string; repeat?: boolean };
}

async function sent(...words: string[]): Promise<Sent> {
  return JSON.parse(await send(...words, '--json'));
}

async function outcomes(): Promise<string[]> {
  await relay.workToTheEnd();
  return (await relay.jobs()).map(({ status, outcome, parked }) => outcome ?? parked?.reason ?? status);
}

const completed = () =>
  relay.sandbox.data.checklistItems.filter((item) => item.is_completed).map((item) => item.item_id);

describe('relay send', () => {
  it('names the thing that an event is about, if there is one', async () => {
    expect((await send('pull_request')).trim()).toMatch(
      /^Sent the event pull_request for \S+\/\S+#\d+, delivery \S+$/m,
    );
    expect((await send('push')).trim()).toMatch(
      /^Sent the event push, delivery \S+\nNo job: no automation handles push events$/,
    );
  });

  it('a comment with a command completes a checklist item, and the same comment again is a new one', async () => {
    expect((await sent('--body', '/done 101')).status).toBe(202);
    expect(await outcomes()).toEqual([expect.stringContaining('101')]);
    expect(completed()).toEqual([101]);
    expect((await sent('--body', '/done 102')).answer.jobs).toHaveLength(1);
    await relay.workToTheEnd();
    expect(completed()).toEqual([101, 102]);
  });

  it('a merged pull request completes the items of its description', async () => {
    await send('--merged', '--body', 'Completes checklist items 102 and 103');
    await relay.workToTheEnd();
    expect(completed()).toEqual([102, 103]);
  });

  it('labels and the repository of an issue come from the options', async () => {
    expect((await sent('issues', '--label', 'question')).answer.ignored).toContain('without the label bug');
    // From now on, the relay knows the repository's id.
    await sent('issues');
    expect((await sent('issues', '--repo', 'acme/unknown')).answer.ignored).toContain(
      'acme/unknown is not in relay.config.ts',
    );
    const { answer } = await sent('--label', 'urgent', '--label', 'bug', '--repo', 'acme/web', '--issue', '42');
    const job = await relay.stores.jobs.get(answer.jobs[0] ?? '');
    expect(job?.summary).toContain('acme/web#42 opened');
    expect(await send('--issue', '42', '--repo', 'acme/web')).toMatch(
      /^Sent the event issues for acme\/web#42, delivery \S+\n1 job: \w{6}$/m,
    );
    await send('issues', '--action', 'closed', '--issue', '42', '--repo', 'acme/web');
    await relay.workToTheEnd();
    expect(relay.sandbox.data.defects.at(-1)?.description).toContain('closed');
  });

  it('fields of the payload come from --set', async () => {
    await send('issues', '--set', 'issue.title=4711', '--set', 'issue.labels=[{"name": "bug"}]');
    await relay.workToTheEnd();
    expect(relay.sandbox.data.defects.at(-1)).toMatchObject({ title: '4711' });
    const faults = ['issue.titel=x', 'isue.title=x', 'issue.title'].map((one) =>
      send('issues', '--set', one).catch((error: Error) => error.message),
    );
    expect(await Promise.all(faults)).toEqual([
      "the example has no field issue.titel; did you mean 'title'?",
      "the example has no field isue.title: there is no 'isue'; did you mean 'issue'?",
      "--set 'issue.title': expected a field and its value, such as issue.title=Login",
    ]);
    await expect(send('issues', '--file', 'x.json', '--set', 'issue.title=x')).rejects.toThrow('leave out --set');
  });

  it("without an option, the repository is the first of relay.config.ts, and for a stage the examples'", async () => {
    const config = exampleConfig({}, { also: ['acme/web'] });
    config.github.repositories.reverse();
    const given = { open: async () => target, readConfig: async () => config };
    expect(await runRelay(given, 'send', 'issues')).toMatch(/^Sent the event issues for acme\/web#/m);
    const stage = () => 'prod';
    expect(await runRelay({ ...given, stage }, 'send', 'issues')).toMatch(
      /^Sent the event issues for Codertocat\/Hello-World#/m,
    );
  });

  it('a file is sent unchanged', async () => {
    await writeFile('payload.json', JSON.stringify(issueEvent('locked')));
    expect((await sent('issues', '--file', 'payload.json')).answer.ignored).toBe('locking an issue changes nothing');
  });

  const isFor = (option: string, events: string, event: string) =>
    `${option} is only for ${events}; for '${event}', use --set <field>=<value>`;
  it.each([
    [['issues', '--merged'], "--merged is only for pull_request; for 'issues', use --set"],
    [['pull_request', '--label', 'bug'], isFor('--label', 'issues', 'pull_request')],
    [['pull_request', '--issue', '4'], isFor('--issue', 'issues, issue_comment', 'pull_request')],
    [['push', '--body', 'x'], isFor('--body', 'issues, issue_comment, pull_request', 'push')],
    [['--merged', '--action', 'opened'], '--merged is a pull request with the action closed'],
    [['issues', '--repo', 'web'], "--repo is 'web'; expected owner/name"],
    [['issue'], "there is no example of 'issue'; did you mean 'issues'?"],
    [['nothing'], "there is no example of 'nothing'; there are "],
    [['issues', '--action', 'crossed out'], "no example of 'issues' with the action 'crossed out'; there are "],
    [['--file', 'payload.json'], 'a payload does not name its event: use send <event> --file payload.json'],
    [['issues', '--file', 'none.json'], 'none.json cannot be read'],
    [['issues', '--file', 'a', '--label', 'b', '--merged'], 'a payload unchanged: leave out --label, --merged'],
    [['issues', '--issue', 'four'], 'expected an integer of at least 1'],
    [['issues', '--url', 'http://127.0.0.1:1'], 'set GITHUB_WEBHOOK_SECRET'],
  ])('relay send refuses %j', async (words, why) => {
    await expect(send(...words)).rejects.toThrow(why);
    expect(await relay.jobs()).toEqual([]);
  });

  it('names the files of automations/ with a fault, if nothing takes an event', async () => {
    const customFolder = newFolder();
    await writeFile(join(customFolder, 'mine.ts'), 'export const on = 1;');
    const said = await runRelay({ open: async () => target, customFolder }, 'send', 'label.created');
    expect(said).toMatch(/No job: no automation handles label events\nautomations\/mine\.ts is left out, because/);
    expect(await runRelay({ open: async () => target, customFolder }, 'send', 'issues')).not.toContain('left out');
  });

  it("relay send release.published makes a job of a team's automation, a new one each time", async () => {
    for (const _ of [1, 2]) expect((await sent('release.published')).answer.jobs).toHaveLength(1);
    expect(await outcomes()).toEqual(Array(2).fill(expect.stringMatching(/^completed checklist item 101 for /)));
  });

  it.each([
    [1, ['issues', '--label', 'bug']],
    [1, ['--body', '/done 101']],
    [2, ['issues', '--label', 'bug', '--body', 'Task: Login with passkeys']],
    [1, ['--body', '/log 45m "Login with passkeys"']],
    [2, ['--merged', '--body', 'Completes checklist items 102 and 103']],
    [1, ['pull_request', '--body', 'Task: d94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01']],
  ])('%d jobs are made by relay send %j', async (count, words) => {
    expect((await sent(...words)).answer.jobs).toHaveLength(count);
  });
});

it.each([
  ['after', (options: string[]) => ['slack', '/pm help', ...options]],
  ['before', (options: string[]) => [...options, 'slack', '/pm help']],
])('relay send slack sends to --url and prints --json, %s the word', async (_, words) => {
  vi.stubEnv('SLACK_SIGNING_SECRET', SIGNING_SECRET);
  const url = relay.slackUrl;
  target = { ...target, slackWebhookUrl: 'http://127.0.0.1:1/not-here' };
  expect(JSON.parse(await send(...words(['--url', url, '--json'])))).toMatchObject({ status: 200 });
});

it.each([
  ['issues', () => ['issues', '--url', relay.url]],
  ['slack', () => ['slack', '/pm find checkout', '--url', relay.slackUrl]],
])('relay send %s refuses --wait with --url before it sends anything', async (_, words) => {
  vi.stubEnv('SLACK_SIGNING_SECRET', SIGNING_SECRET);
  vi.stubEnv('GITHUB_WEBHOOK_SECRET', WEBHOOK_SECRET);
  await expect(send(...words(), '--wait')).rejects.toThrow('leave out --url');
  expect(await relay.jobs()).toEqual([]);
});

it.each([
  ['/pm help', undefined],
  ['/pm find checkout', undefined],
  ['/pm dnoe 101', 1],
  ['/pm log 30h Login', 1],
])('relay send slack ends with an error if the command is not carried out: %s', async (typed, exitCode) => {
  // From now on, the relay knows the app's workspace.
  await send('slack', '/pm help');
  process.exitCode = undefined;
  await send('slack', typed);
  expect(process.exitCode).toBe(exitCode);
});

it.each([
  ['<script>a & b</script> &lt;', '<script>a & b</script> &lt;'],
  ['ask <@U0MIRA001|mira> in <#C0GENERAL>', 'ask mira in #C0GENERAL'],
])('relay send slack sends typed text as Slack does: %s', async (typed, text) => {
  await send('slack', '/pm help');
  await send('slack', `/pm find ${typed}`);
  expect((await relay.jobs()).map(({ input }) => input)).toEqual([{ text }]);
});

it('relay send slack --payload --wait prints the job of a button', async () => {
  const place = { userId: 'U0MIRA001', channelId: 'C0GENERAL' };
  const pressed = {
    type: 'block_actions',
    team: { id: TEAM_ID },
    user: { id: place.userId },
    channel: { id: place.channelId },
    trigger_id: 'the trigger of the press',
    response_url: relay.slack.makeResponseUrl(place),
    actions: runButton('Run /pm done 101', { command: 'done 101', happened: 'what was asked 0' }),
  };
  await writeFile('press.json', JSON.stringify(pressed));
  const printed = JSON.parse(await send('slack', '--payload', 'press.json', '--wait', '--timeout', '1', '--json'));
  expect(printed).toMatchObject({ status: 200, jobs: [{ automation: 'complete-checklist-item', status: 'queued' }] });
});

it('relay send slack prints an answer that is not JSON', async () => {
  vi.stubEnv('SLACK_SIGNING_SECRET', SIGNING_SECRET);
  const to = ['slack', '/pm help', '--url', `${target.running?.url}/elsewhere`];
  expect(await send(...to)).toMatch(/^Refused with 404: Not found\./);
  expect(JSON.parse(await send(...to, '--json'))).toMatchObject({
    status: 404,
    answer: expect.stringContaining('Not found'),
  });
});

describe('relay send workflow_run --junit', () => {
  const REPORTS = ['<failure/>', ''].map((result) => `<testsuite><testcase name="a">${result}</testcase></testsuite>`);
  beforeEach(async () => {
    await mkdir('reports');
    await writeFile('reports/two.xml', REPORTS[1] ?? '');
  });

  const HAS = 'a run has the reports of the folder in its artifact, and makes a job; failed: %j';
  it.each([true, false])(HAS, async (failed) => {
    const github = await startGithubApi(Date.now);
    target = { ...target, githubStandIn: github.url };
    if (failed) await writeFile('reports/one.xml', REPORTS[0] ?? '');
    await sent('workflow_run', '--junit', 'reports');
    const [job] = await relay.jobs();
    const conclusion = failed ? 'failure' : 'success';
    const run = { workflow: 'ci.yml', conclusion, event: 'push', head_branch: 'main' };
    expect(job).toMatchObject({ automation: 'tests-to-scenarios', input: { run } });
    const [artifact] = [...github.artifacts.values()];
    expect(artifact).toMatchObject({ name: 'junit', runId: Object(job?.input.run).id });
    const files: string[] = [];
    const file = { write: (piece: Uint8Array) => void files.push(Buffer.from(piece).toString()), end() {} };
    const [never, open, ignore] = [() => false, () => file, () => {}];
    await unfold(Buffer.from(artifact?.archive ?? ''), { bytes: 0 }, never, open, ignore);
    expect(files).toEqual(failed ? REPORTS : REPORTS.slice(1));
  });

  it.each([
    [['workflow_run', '--junit', 'none'], 'http://127.0.0.1:1', 'none'],
    [['workflow_run', '--junit', 'reports'], undefined, 'has no stand-in for GitHub: push a commit'],
    [['workflow_run', '--junit', 'reports', '--repo', 'acme/other'], 'http://127.0.0.1:1', 'acme/other has no tests'],
    [['workflow_run', '--junit', 'reports', '--action', 'requested'], 'http://127.0.0.1:1', 'leave out --action'],
    [['issues', '--junit', 'reports'], 'http://127.0.0.1:1', '--junit is for workflow_run'],
  ])('relay send refuses %j', async (words, githubStandIn, why) => {
    target = { ...target, githubStandIn };
    await expect(send(...words)).rejects.toThrow(why);
    expect(await relay.jobs()).toEqual([]);
  });
});

describe('partner-relay sandbox', () => {
  const sandbox = (...words: string[]) => runRelay({ open: async () => target }, 'sandbox', ...words);

  it('lists ids that commands accept', async () => {
    expect(await sandbox('items')).toMatch(/^101 +Changelog written +open +Before the release +Release checkout 2.4$/m);
    expect(await sandbox('tasks')).toMatch(/^d94e6b20-\S+ +Login with passkeys +Mobile App$/m);
    expect(JSON.parse(await sandbox('projects', '--json'))).toHaveLength(3);
    expect(await sandbox('scenarios')).toMatch(/^f3c9d5e8-\S+ +Checkout +draft$/m);
    expect(await sandbox()).toMatch(/^The lists of the sandbox.*\n\n {2}npx partner-relay sandbox people\n/);
    await expect(sandbox('nothing')).rejects.toThrow('Allowed choices are people, projects, tasks, items, defects');
  });

  it('says so if the relay calls a real instance', async () => {
    if (target.running) target.running.sandbox = undefined;
    await expect(sandbox('items')).rejects.toThrow('this relay uses a real instance');
  });
});
