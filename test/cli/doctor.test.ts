import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { examine } from '../../cli/doctor/doctor.ts';
import * as releaseToChecklist from '../../docs/guides/automations/release-to-checklist.ts';
import * as sentryToDefect from '../../docs/guides/automations/sentry-to-defect.ts';
import { defineConfig, type RelayConfigInput } from '../../lib/config/schema.ts';
import { privateKey } from '../github-identity.ts';
import { startHttpStandIn } from '../http-stand-in.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay, type TestRelayOptions } from '../relay.ts';
import { teamInput } from '../timesheets/team.ts';

const ELSEWHERE = '00000000-0000-0000-0000-000000000007';

let relay: TestRelay;
afterEach(() => relay.close());

/** What is wrong with files of automations/. */
let ownFaults: string[] = [];

/** Everything that is found, by what was looked at. */
async function examined(options: TestRelayOptions = {}): Promise<Map<string, string>> {
  relay = await startRelay(options);
  return findings();
}

async function findings(): Promise<Map<string, string>> {
  const { stores, runtime, slack } = relay;
  const open = async () => ({
    stores,
    githubWebhookUrl: '',
    slackWebhookUrl: undefined,
    slackStandIn: { url: slack.url, headers: { authorization: '' } },
  });
  const found = await examine(runtime.config, open, () => {}, { own: runtime.own, faults: ownFaults, files: [] });
  return new Map(found.map(({ what, verdict, detail }) => [what, `${verdict}: ${detail}`]));
}

/** What is bad, as `what: detail`. */
function bad(found: ReadonlyMap<string, string>): string[] {
  return [...found].filter(([, detail]) => detail.startsWith('bad')).map(([what, detail]) => `${what} ${detail}`);
}

it('relay doctor lists own automations, their faults, missing secrets, and events that GitHub does not send', async () => {
  ownFaults = ["automations/bad.ts: there is no time zone 'Berlin'"];
  onTestFinished(() => {
    ownFaults = [];
  });
  const apiUrl = await github({
    'Codertocat/Hello-World': { labels: ['bug'], installation: { permissions: {}, events: ['issues'] } },
  });
  const found = await examined({
    config: exampleConfig({}, { apiUrl }),
    github: { appId: '1', privateKey },
    own: { 'release-to-checklist': releaseToChecklist, 'sentry-to-defect': sentryToDefect },
  });
  expect(found.get('automations/release-to-checklist.ts')).toBe('good: on release.published of GitHub');
  expect(found.get('automations/bad.ts')).toBe("bad: there is no time zone 'Berlin'");
  expect(found.get('hooks: sentry-to-defect')).toMatch(/^bad: .*secrets set hooks\/sentry-to-defect$/);
  expect(found.get('github: own events of Codertocat/Hello-World')).toMatch(/^bad: the App does not send release: /);
});

interface Repository {
  labels: string[];
  archived?: boolean;
  /** Of the App's installation. */
  installation?: { permissions: object; events: string[] };
}

/** GitHub's repositories and labels at the wire. @returns its URL */
async function github(repositories: Record<string, Repository>): Promise<string> {
  const { url, close } = await startHttpStandIn(({ route, headers: { authorization = '' } }) => {
    const path = decodeURIComponent(route.replace('GET ', ''));
    const [, name = '', label] = /^\/repos\/([^/]+\/[^/]+)(?:\/labels\/(.+)|\/installation)?$/.exec(path) ?? [];
    const repository = repositories[name];
    if (authorization !== 'token ghp_good' && !authorization.startsWith('bearer '))
      return { status: 401, body: { message: 'Bad credentials' } };
    if (!repository || (label !== undefined && !repository.labels.includes(label)))
      return { status: 404, body: { message: 'Not Found' } };
    const { archived = false, installation } = repository;
    return { status: 200, body: { has_issues: true, archived, ...installation } };
  });
  onTestFinished(close);
  return url;
}

const app = { appId: '12', privateKey };

describe('doctor', () => {
  it('doctor finds nothing wrong in a correct configuration', async () => {
    const apiUrl = await github({ 'Codertocat/Hello-World': { labels: ['bug'] } });
    const found = await examined({ config: exampleConfig({}, { apiUrl }), github: { token: 'ghp_good' } });
    expect(bad(found)).toEqual([]);
    expect(Object.fromEntries(found)).toMatchObject({
      'main: credentials': expect.stringContaining('validate returned the payload unchanged'),
      'main: github.repositories.0.issueToDefect.projectId': 'good: Web Shop',
      'main: slack.channels.C0PLATFORM.projectId': 'good: Web Shop',
      'main: defects/list by project_id': 'good: returns the rows that match, and no others',
      'main: tasks/detail': 'good: returns what it is asked for by task_id',
      'main: timelogs/detail': 'good: returns what it is asked for by timelog_id',
      'main: projects/search by q': 'good: returns the rows that match, and no others',
      'main: users/list page by page': 'good: the second page follows the first',
      'main: timelogs/list of users': 'good: entries have the user_id of users/list',
      'main: timelogs/list by user_id': 'good: returns the rows that match, and no others',
      'main: timelogs/list by task_id': 'good: returns the rows that match, and no others',
      'main: timelogs/list by date_from and date_to': 'good: returns the rows that match, and no others',
      'github: webhook secret': 'good: it is in the secret',
      'github: Codertocat/Hello-World': 'good: reached as token',
      'github: labels of Codertocat/Hello-World': 'good: bug',
      'slack: signing secret': 'good: it is in the secret',
      'slack: channel C0PLATFORM': 'good: #platform',
    });
    const notTried = [...found].filter(([, detail]) => detail.includes('not tried')).map(([what]) => what);
    expect(notTried.sort()).toEqual(
      [
        ...['defects/create', 'defects/link', 'ids that people type', 'markers', 'the same bytes twice'],
        'timelogs/create',
      ].map((what) => `main: ${what}`),
    );
    expect(relay.sandbox.data.defects).toHaveLength(1);
  });

  const tests = { workflows: ['ci.yml'], artifacts: ['junit'], status: { passed: 'ok', failed: 'broken' } };
  const read = { actions: 'read', contents: 'read', checks: 'write' };
  it.each<[string, string, object, object, string[]]>([
    ['tests', 'good: the App may read artifacts', app, read, ['workflow_run']],
    [
      'tests',
      'bad: the App lacks the permission "Checks: write": add it',
      app,
      { actions: 'write', contents: 'read', checks: 'read' },
      ['workflow_run'],
    ],
    [
      'tests',
      'bad: the App lacks the permission "Actions: read", the permission "Contents: read", the permission "Checks: write" and the event "Workflow run"',
      app,
      {},
      ['issues'],
    ],
    ['tests', 'bad: GitHub takes checks from a GitHub App only', {}, {}, []],
    ['checks', 'bad: GitHub takes checks from a GitHub App only, and the github secret has none', {}, {}, []],
    ['checks', 'bad: the App may not write checks: give it', app, { checks: 'read' }, []],
    ['checks', 'unknown: the App does not receive check_run, merge_group', app, { checks: 'write' }, ['pull_request']],
    ['checks', 'good: the App may write them', app, { checks: 'write' }, ['pull_request', 'check_run', 'merge_group']],
  ])('doctor says whether the App may do what %s need: %s', async (what, said, secret, permissions, events) => {
    const installation = { permissions, events };
    const apiUrl = await github({ 'Codertocat/Hello-World': { labels: ['bug'], installation } });
    const config = exampleConfig({}, { apiUrl, ...(what === 'tests' ? { tests } : { checkPullRequest: {} }) });
    const found = await examined({ config, github: { token: 'ghp_good', ...secret } });
    expect(found.get(`github: ${what} of Codertocat/Hello-World`)).toContain(said);
    if (what === 'tests')
      expect(found.get('main: test-scenarios/update')).toContain(
        'whether the service knows the values of tests.status',
      );
  });

  it('doctor says what limit the relay assumes since the service refused calls', async () => {
    relay = await startRelay({ sandbox: { rateLimit: { perMinute: 15, perDay: 5_000 } } });
    for (let id = 1; id <= 15; id++) await relay.post('issues', issueEvent('opened', { id }));
    await relay.work();
    relay.clock.now += 5_000;
    await relay.post('issues', issueEvent('opened', { id: 16 }));
    await relay.work();
    relay.clock.now += 2 * 60_000;
    expect((await findings()).get('connections.main.limits.perMinute')).toMatch(
      /^unknown: the service seems to allow \d+ calls a minute, not 120: other software uses the key, or/,
    );
  });

  const reminded = (people: string[]): RelayConfigInput['timesheets'] => ({
    teams: [
      {
        name: 'platform',
        connection: 'main',
        timeZone: 'UTC',
        remindAt: '16:30',
        hours: { mon: 8 },
        people,
        summary: { channel: 'C0PRIVATE' },
      },
    ],
  });

  it.each<[string, Parameters<typeof exampleConfig>, string, RegExp]>([
    [
      "a channel's project that the key does not have",
      [{}, { slack: { channels: { C0PLATFORM: { projectId: ELSEWHERE } } } }],
      'main: slack.channels.C0PLATFORM.projectId',
      /^bad: the key cannot access the project/,
    ],
    [
      'a channel that is not there',
      [{}, { slack: { channels: { C0NOWHERE: {} } } }],
      'slack: channel C0NOWHERE',
      /^bad: .*channel_not_found; see slack\.channels\.C0NOWHERE$/,
    ],
    [
      'a channel that summaries cannot be posted in',
      [{}, { timesheets: reminded(['mira.novak@example.com']) }],
      'slack: channel C0PRIVATE',
      /^bad: the app is not in #management.*timesheets\.teams\.0\.summary\.channel$/,
    ],
    [
      'a user group that is not there',
      [{}, { slack: { permissions: { log: { userGroups: ['S0NOWHERE'] } } } }],
      'slack: user group S0NOWHERE',
      /^bad: .*no_such_subteam; see slack\.permissions\.log\.userGroups$/,
    ],
    [
      'a person who is not in Slack',
      [{}, { people: [{ slack: 'U0NOWHERE', email: 'mira.novak@example.com' }] }],
      'slack: person U0NOWHERE',
      /^bad: .*user_not_found; see people\.0\.slack$/,
    ],
    [
      'a person who has left',
      [{}, { people: [{ slack: 'U0GONE001', email: 'mira.novak@example.com' }] }],
      'slack: person U0GONE001',
      /^bad: the account is deactivated/,
    ],
    [
      'an address that nobody in the service has',
      [{}, { people: [{ slack: 'U0MIRA001', email: 'mira@example.com' }] }],
      'main: people',
      /^bad: no user of the service has the address of people\.0\.email \(mira@example\.com\)$/,
    ],
    [
      'an address that nobody in Slack has',
      [{}, { timesheets: reminded(['lucas.pereira@example.com']) }],
      'slack: lucas.pereira@example.com',
      /^bad: .*users_not_found; see timesheets\.teams\.0\.people\.0$/,
    ],
  ])('doctor reports %s', async (_, config, what, expected) => {
    const found = await examined({ config: exampleConfig(...config) });
    expect(found.get(what)).toMatch(expected);
  });

  it.each<[string, object | undefined, Parameters<typeof github>[0], string, RegExp]>([
    ['no credentials', {}, {}, 'github: credentials', /^unknown: the secret has neither/],
    ['a token that is wrong', { token: 'ghp_bad' }, {}, 'github: Codertocat/Hello-World', /^bad: .* with 401/],
    [
      'a repository that cannot be reached',
      { token: 'ghp_good' },
      {},
      'github: Codertocat/Hello-World',
      /^bad: GitHub answers GET \/repos\/Codertocat\/Hello-World with 404: Not Found.*; check the name/,
    ],
    [
      'a repository that is archived',
      { token: 'ghp_good' },
      { 'Codertocat/Hello-World': { labels: ['bug'], archived: true } },
      'github: Codertocat/Hello-World',
      /^bad: the repository is archived/,
    ],
    [
      'a label that is not there',
      { token: 'ghp_good' },
      { 'Codertocat/Hello-World': { labels: [] } },
      'github: labels of Codertocat/Hello-World',
      /^bad: the repository has no label bug/,
    ],
    ['no webhook secret', undefined, {}, 'github: webhook secret', /^bad: .*webhookSecret/],
  ])('doctor reports a problem on GitHub: %s', async (_, secret, repositories, what, expected) => {
    const apiUrl = await github(repositories);
    const config = exampleConfig({}, { apiUrl });
    const found = await examined(secret ? { config, github: secret } : { config, webhookSecret: '' });
    expect(found.get(what)).toMatch(expected);
  });

  it.each([
    ['tasks/detail', { task_id: 'task' }, /^bad/],
    ['timelogs/list', { hours: 'spent' }, /^bad: .* cannot be read: .*They have timelog_id, .*spent/],
  ])('doctor reports a field of %s that is missing: %o', async (operation, fields, detail) => {
    const found = await examined({ sandbox: { rename: { [`/${operation}`]: { fields } } } });
    expect(found.get(`main: ${operation}`)).toMatch(detail);
  });

  it('doctor reads the calendars of teams', async () => {
    const { url, close } = await startHttpStandIn(() => ({ status: 404, body: '' }));
    onTestFinished(close);
    const address = `${url}/away.ics`;
    const config = exampleConfig({}, { timesheets: { teams: [{ ...teamInput, absence: { calendar: true } }] } });
    const found = await examined({ config });
    const calendar = `calendar of the team ${teamInput.name}`;
    expect(found.get(calendar)).toMatch(
      /^bad: the secret .* enter it with npm run -s relay -- secrets set calendar\/.*; reminders go/,
    );
    relay.stack.secrets.put(`${relay.stack.secretPrefix}calendar/${teamInput.name}`, { address });
    relay.clock.now += 5_000;
    expect((await findings()).get(calendar)).toMatch(/^bad: it answers with 404; reminders go out/);
  });

  it('doctor says which connections have the same key', async () => {
    const config = exampleConfig();
    const found = await examined({
      config: defineConfig({ ...config, connections: { main: {}, other: {} } }),
    });
    expect(found.get('main and other')).toMatch(/^unknown: they have the same key, so they share one budget/);
  });

  it('doctor continues if one connection has no secret', async () => {
    relay = await startRelay();
    relay.stack.secrets.put(`${relay.stack.secretPrefix}partner/main`, { baseUrl: 'http://pm.internal' });
    const found = await findings();
    expect(found.get('main: credentials')).toMatch(
      /^bad: the secret .* has missing or invalid fields: apiKey, secretKey/,
    );
    expect(found.has('slack: credentials')).toBe(true);
  });
});
