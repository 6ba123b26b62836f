import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { examine } from '../../cli/doctor/doctor.ts';
import type { Target } from '../../cli/target.ts';
import * as releaseToChecklist from '../../docs/guides/automations/release-to-checklist.ts';
import * as sentryToDefect from '../../docs/guides/automations/sentry-to-defect.ts';
import { defineConfig } from '../../lib/config/schema.ts';
import { keys } from '../../lib/state/table/keys.ts';
import { APP } from '../github-identity.ts';
import { startHttpStandIn } from '../http-stand-in.ts';
import { issueEvent } from '../issue-events.ts';
import { newFolder } from '../new-folder.ts';
import { exampleConfig, startRelay, type TestRelay, type TestRelayOptions } from '../relay.ts';
import { teamInput } from '../timesheets/team.ts';
import { runRelayOf, targetOf } from './run-command.ts';

const ELSEWHERE = '00000000-0000-0000-0000-000000000007';

let relay: TestRelay;

/** Doctor's findings, by what it checked. */
async function examined(options: TestRelayOptions = {}): Promise<Map<string, string>> {
  relay = await startRelay(options);
  return findings();
}

/** @param faults of files of automations/ */
async function findings(faults: string[] = [], more: Partial<Target> = {}): Promise<Map<string, string>> {
  const { runtime, slack } = relay;
  const open = async () =>
    targetOf(relay, { slackStandIn: { url: slack.url, headers: { authorization: '' } }, ...more });
  const found = await examine(runtime.config, open, () => {}, {
    custom: runtime.custom,
    faults,
    warnings: [],
    files: [],
  });
  return new Map(found.map(({ what, verdict, detail }) => [what, `${verdict}: ${detail}`]));
}

it("partner-relay doctor lists a team's automations, their faults, missing secrets, and events that GitHub does not send", async () => {
  const apiUrl = await github({ installation: { permissions: {}, events: ['issues'] } });
  relay = await startRelay({
    config: exampleConfig({}, { apiUrl }),
    github: APP,
    own: { 'release-to-checklist': releaseToChecklist, 'sentry-to-defect': sentryToDefect },
  });
  const found = await findings(["automations/bad.ts: there is no time zone 'Berlin'"]);
  expect(found.get('automations/release-to-checklist.ts')).toBe('good: on release.published of GitHub');
  expect(found.get('automations/bad.ts')).toBe("bad: there is no time zone 'Berlin'");
  expect(found.get('hooks: sentry-to-defect')).toMatch(/^bad: .*secrets set hooks\/sentry-to-defect$/);
  expect(found.get('github: own events of Codertocat/Hello-World')).toMatch(/^bad: the App does not send release: /);
  for (const [secret, said] of [
    [' ', /^bad: its secret is refused: /],
    ['short', /^unknown: the secret has 5 bytes; enter a random secret of at least 16 bytes/],
    ['x'.repeat(16), /^good/],
  ] as const) {
    relay.stack.secrets.put(`${relay.stack.secretPrefix}hooks`, { 'sentry-to-defect': secret });
    relay.clock.now += 120_000;
    relay.stores.secrets.refresh('hooks');
    expect((await findings()).get('hooks: sentry-to-defect')).toMatch(said);
  }
});

const NAME = 'Codertocat/Hello-World';

interface Repository {
  labels?: string[];
  archived?: boolean;
  full_name?: string;
  /** The installation of the App. */
  installation?: { permissions: object; events: string[] };
}

/** Serves GitHub's repository, labels and one account; undefined means no repository. @returns the URL */
async function github(repository: Repository | undefined): Promise<string> {
  const { url, close } = await startHttpStandIn(({ route, headers: { authorization = '' } }) => {
    const path = decodeURIComponent(route.replace('GET ', ''));
    const [, name = '', label] = /^\/repos\/([^/]+\/[^/]+)(?:\/labels\/(.+)|\/installation)?$/.exec(path) ?? [];
    if (authorization !== 'token ghp_good' && !authorization.startsWith('bearer '))
      return { status: 401, body: { message: 'Bad credentials' } };
    const octocat = { login: 'octocat', id: 583_231 };
    if (['/users/octocat', '/user/583231'].includes(path.toLowerCase())) return { status: 200, body: octocat };
    const { labels = ['bug'], archived = false, full_name = NAME, installation } = repository ?? {};
    if (!repository || name !== NAME || (label !== undefined && !labels.includes(label)))
      return { status: 404, body: { message: 'Not Found' } };
    return { status: 200, body: { full_name, has_issues: true, archived, ...installation } };
  });
  onTestFinished(close);
  return url;
}

describe('doctor', () => {
  it('doctor finds nothing wrong in a correct configuration', async () => {
    const apiUrl = await github({});
    const found = await examined({ config: exampleConfig({}, { apiUrl }), github: { token: 'ghp_good' } });
    expect([...found].filter(([, detail]) => detail.startsWith('bad'))).toEqual([]);
    expect(Object.fromEntries(found)).toMatchObject({
      'main: credentials': expect.stringContaining('validate returned the payload unchanged'),
      'main: github.repositories.0.issueToDefect.projectId': 'good: Web Shop',
      'main: slack.channels.C0PLATFORM.projectId': 'good: Web Shop',
      'github: webhook secret': 'good: it is set',
      'github: Codertocat/Hello-World': 'good: reached as token',
      'github: labels of Codertocat/Hello-World': 'good: bug',
      'slack: signing secret': 'good: it is set',
      'slack: channel C0PLATFORM': 'good: #platform',
    });
    expect(relay.sandbox.data.defects).toHaveLength(1);
  });

  const tests = { workflows: ['ci.yml'], artifacts: ['junit'], status: { passed: 'ok', failed: 'broken' } };
  const read = { actions: 'read', contents: 'read', checks: 'write' };
  it.each<[string, string, object, object, string[]]>([
    ['tests', 'good: the App may read artifacts', APP, read, ['workflow_run']],
    [
      'tests',
      'bad: the App lacks the permission "Checks: write": add it',
      APP,
      { actions: 'write', contents: 'read', checks: 'read' },
      ['workflow_run'],
    ],
    [
      'tests',
      'bad: the App lacks the permission "Actions: read", the permission "Contents: read", the permission "Checks: write" and the event "Workflow run"',
      APP,
      {},
      ['issues'],
    ],
    ['tests', 'bad: GitHub takes checks from a GitHub App only', {}, {}, []],
    ['checks', 'bad: GitHub takes checks from a GitHub App only, and the github secret has none', {}, {}, []],
    ['checks', 'bad: the App may not write checks: give it', APP, { checks: 'read' }, []],
    ['checks', 'unknown: the App does not receive check_run, merge_group', APP, { checks: 'write' }, ['pull_request']],
    ['checks', 'good: the App may write them', APP, { checks: 'write' }, ['pull_request', 'check_run', 'merge_group']],
  ])('doctor says whether the App may do what %s need: %s', async (what, said, secret, permissions, events) => {
    const apiUrl = await github({ installation: { permissions, events } });
    const config = exampleConfig({}, { apiUrl, ...(what === 'tests' ? { tests } : { checkPullRequest: {} }) });
    const found = await examined({ config, github: { token: 'ghp_good', ...secret } });
    expect(found.get(`github: ${what} of Codertocat/Hello-World`)).toContain(said);
    if (what === 'tests')
      expect(found.get('main: test-scenarios/update')).toContain(
        'the check of a workflow run on GitHub says whether the service took the values of tests.status',
      );
  });

  it('doctor reports the limit that the relay assumes since the service refused calls', async () => {
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

  const reminded = (person: string) => ({
    teams: [{ ...teamInput, people: [person], summary: { channel: 'C0PRIVATE' } }],
  });
  const mira = (slack: string, email = 'mira.novak@example.com') => [{ slack, email }];
  it.each<[string, Parameters<typeof exampleConfig>[1], RegExp]>([
    [
      'main: slack.channels.C0PLATFORM.projectId',
      { slack: { channels: { C0PLATFORM: { projectId: ELSEWHERE } } } },
      /^bad: the key cannot access the project/,
    ],
    [
      'slack: channel C0NOWHERE',
      { slack: { channels: { C0NOWHERE: {} } } },
      /^bad: .*channel_not_found; see slack\.channels\.C0NOWHERE$/,
    ],
    [
      'slack: channel C0PRIVATE',
      { timesheets: reminded('mira.novak@example.com') },
      /^bad: the app is not in #management.*timesheets\.teams\.0\.summary\.channel$/,
    ],
    [
      'slack: user group S0NOWHERE',
      { slack: { permissions: { log: { userGroups: ['S0NOWHERE'] } } } },
      /^bad: .*no_such_subteam; see slack\.permissions\.log\.userGroups$/,
    ],
    ['slack: person U0NOWHERE', { people: mira('U0NOWHERE') }, /^bad: .*user_not_found; see people\.0\.slack$/],
    ['slack: person U0GONE001', { people: mira('U0GONE001') }, /^bad: the account is deactivated/],
    [
      'main: people',
      { people: mira('U0MIRA001', 'mira@example.com') },
      /^bad: no user of the service has the address of people\.0\.email \(mira@example\.com\)$/,
    ],
    [
      'slack: lucas.pereira@example.com',
      { timesheets: reminded('lucas.pereira@example.com') },
      /^bad: .*users_not_found; see timesheets\.teams\.0\.people\.0$/,
    ],
  ])('doctor reports for %s, where %j is set: %s', async (what, settings, expected) => {
    const found = await examined({ config: exampleConfig({}, settings) });
    expect(found.get(what)).toMatch(expected);
  });

  it.each<[string, object, Repository | undefined, RegExp]>([
    ['credentials', {}, undefined, /^unknown: the secret has neither/],
    [NAME, { token: 'ghp_bad' }, undefined, /^bad: .* with 401/],
    [
      NAME,
      { token: 'ghp_good' },
      undefined,
      /^bad: GitHub answers GET \/repos\/Codertocat\/Hello-World with 404: Not Found.*; check the name/,
    ],
    [NAME, { token: 'ghp_good' }, { archived: true }, /^bad: the repository is archived/],
    [NAME, { token: 'ghp_good' }, { full_name: 'Codertocat/New' }, /^unknown: .* is now called Codertocat\/New/],
    [NAME, { token: 'ghp_good' }, { full_name: 'Other/New' }, /^bad: .* is now Other\/New, and has another owner/],
    [`labels of ${NAME}`, { token: 'ghp_good' }, { labels: [] }, /^bad: the repository has no label bug/],
    ['webhook secret', {}, undefined, /^bad: .*webhookSecret/],
  ])('doctor reports on GitHub for %s, with %j and %j: %s', async (what, secret, repository, expected) => {
    const apiUrl = await github(repository);
    const found = await examined({ config: exampleConfig({}, { apiUrl }), github: secret, webhookSecret: '' });
    expect(found.get(`github: ${what}`)).toMatch(expected);
  });

  it.each([
    ['x'.repeat(15), /^unknown: the secret has 15 bytes; enter a random secret of at least 16 bytes$/],
    ['x'.repeat(16), /^good/],
    [' ', /^bad: .*webhookSecret/],
  ])("doctor reports the strength of GitHub's webhook secret and Slack's signing secret: %j", async (secret, said) => {
    const found = await examined({ webhookSecret: secret, slack: { signingSecret: secret } });
    expect(found.get('github: webhook secret')).toMatch(said);
    expect(found.get('slack: signing secret')?.replace('signingSecret', 'webhookSecret')).toMatch(said);
  });

  it.each([
    ['Codertocat/New', 'is now called Codertocat/New', undefined],
    ['Other/New', 'is now Other/New, and has another owner', 1],
    [NAME, undefined, undefined],
  ])('config check reports on a repository that is called %s now: %s', async (full_name, said, code) => {
    const settings = {
      connections: { main: {} },
      github: { apiUrl: await github({ full_name }), repositories: [{ name: NAME, connection: 'main' }] },
    };
    relay = await startRelay({ github: { token: 'ghp_good' } });
    const file = join(newFolder(), 'relay.config.ts');
    writeFileSync(file, `export default ${JSON.stringify(settings)};`);
    const shown = await runRelayOf(relay, ['config', 'check', file]);
    expect(shown).toContain('The configuration is valid');
    expect(shown.split('\n').slice(1)).toEqual(said === undefined ? [] : [expect.stringContaining(said)]);
    expect(process.exitCode).toBe(code);
    process.exitCode = undefined;
  });

  it("doctor learns from an event that an owner's login has changed", async () => {
    const apiUrl = await github({ full_name: 'Other/New' });
    relay = await startRelay({ config: exampleConfig({}, { apiUrl }), github: { token: 'ghp_good' } });
    const known = { name: NAME, id: 1, ownerId: 2, calledNow: 'Other/New', isRenamed: true };
    await relay.stores.table.put({ ...keys.repository(NAME), ...known });
    expect((await findings()).get(`github: ${NAME}`)).toMatch(/^unknown: .* is now called Other\/New/);
  });

  it('doctor learns from an event that a stranger has the name of a repository, and says how to take their events', async () => {
    const apiUrl = await github({ full_name: NAME });
    const ofAnother = { name: NAME, id: 1, ownerId: 2, otherOwnerId: 666 };
    const examine = async (repository: object) => {
      const config = exampleConfig({}, { apiUrl });
      Object.assign(config.github.repositories[0] ?? {}, repository);
      relay = await startRelay({ config, github: { token: 'ghp_good' } });
      await relay.stores.table.put({ ...keys.repository(NAME), ...ofAnother });
      return (await findings()).get(`github: ${NAME}`);
    };
    expect(await examine({})).toMatch(/^bad: .* is now another repository, .* set ownerId: 666 for it/);
    expect(await examine({ ownerId: 666 })).toMatch(/^good/);
  });

  it.each<[string, object, RegExp]>([
    ['the line to paste', { github: 'Octocat' }, /^unknown: .*; paste: github: 'octocat', githubId: 583231,$/],
    ['that the id fits', { github: 'OCTOCAT', githubId: 583_231 }, /^good/],
    [
      'that the login is of another account',
      { github: 'octocat-old', githubId: 583_231 },
      /^bad: the account 583231 is octocat now, and not octocat-old; paste: github: 'octocat', githubId: 583231,$/,
    ],
    ['that there is no such account', { github: 'nobody' }, /^bad: GitHub has no such account$/],
  ])('doctor reports on a person on GitHub: %s', async (_, person, said) => {
    const apiUrl = await github({});
    const people = [{ email: 'mira.novak@example.com', ...person }];
    const found = await examined({ config: exampleConfig({}, { apiUrl, people }), github: { token: 'ghp_good' } });
    expect(found.get('github: people.0')).toMatch(said);
  });

  it.each([
    ['tasks/detail', { task_id: 'task' }, /^bad/],
    ['timelogs/list', { hours: 'spent' }, /^bad: .* cannot be read: .*They have timelog_id, .*spent/],
  ])('doctor reports a missing field of %s: %o', async (operation, fields, detail) => {
    const found = await examined({ sandbox: { rename: { [`/${operation}`]: { fields } } } });
    expect(found.get(`main: ${operation}`)).toMatch(detail);
  });

  it("doctor reads the teams' calendars", async () => {
    let answer = { status: 404, body: '' };
    const { url, close } = await startHttpStandIn(() => answer);
    onTestFinished(close);
    const address = `${url}/away.ics`;
    const config = exampleConfig({}, { timesheets: { teams: [{ ...teamInput, absence: { calendar: true } }] } });
    const found = await examined({ config });
    const calendar = `calendar of the team ${teamInput.name}`;
    expect(found.get(calendar)).toMatch(
      /^bad: the secret .* enter it with npx partner-relay secrets set calendar\/.*; reminders go/,
    );
    relay.stack.secrets.put(`${relay.stack.secretPrefix}calendar/${teamInput.name}`, { address });
    relay.clock.now += 5_000;
    expect((await findings()).get(calendar)).toMatch(/^bad: it answers with 404; reminders go out/);
    const events = ['BEGIN:VEVENT', 'END:VEVENT'].join('\n').repeat(7);
    answer = { status: 200, body: `BEGIN:VCALENDAR\n${events.replaceAll('TB', 'T\nB')}\nEND:VCALENDAR` };
    relay.clock.now += 60_000;
    expect((await findings()).get(calendar)).toMatch(
      /^unknown: not all of it can be read: event 1: it has no DTSTART; .*event 5: it has no DTSTART; 7 parts in all$/,
    );
  });

  it.each([
    ['0.1.0', /^good: 0\.1\.0 is deployed, and this is /],
    ['0.0.9', /^bad: 0\.0\.9 ran here, .*partner-relay@0\.1\.0$/],
  ])('doctor says whether this version can replace the deployed version: %s', async (version, said) => {
    relay = await startRelay();
    const open = async () => targetOf(relay, { wrote: { version, form: 1 } });
    const found = await examine(relay.runtime.config, open, () => {}, {
      custom: relay.runtime.custom,
      faults: [],
      warnings: [],
      files: [],
    });
    expect(
      found.filter(({ what }) => what === 'version').map(({ verdict, detail }) => `${verdict}: ${detail}`),
    ).toEqual([expect.stringMatching(said)]);
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

  it('doctor asks for a restart if relay.config.ts names something that the relay here did not have at its start', async () => {
    relay = await startRelay();
    const running = { url: relay.url, logFile: '', console: '', variables: relay.stack.variables };
    for (const name of ['slack', 'partner/main']) relay.stack.secrets.remove(`${relay.stack.secretPrefix}${name}`);
    const found = await findings([], { running });
    expect(found.get('slack: signing secret')).toBe(RESTART.replace('…', 'slack'));
    expect(found.get('slack: credentials')).toBe(RESTART.replace('…', 'slack'));
    expect(found.get('main: credentials')).toBe(RESTART.replace('…', 'the connection main'));
    expect([...found.values()].filter((detail) => detail.includes('secrets set'))).toEqual([]);
  });
});

const RESTART = 'bad: the relay started without …: name it in relay.config.ts, and restart the relay';
