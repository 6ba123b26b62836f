import { describe, expect, it } from 'vitest';
import { ConfigError, defineConfig } from '../../lib/config/schema.ts';
import { findRepository } from '../../lib/config/settings.ts';
import { expectation } from '../../lib/faults/expectation.ts';
import { faultLine } from '../../lib/faults/fault.ts';
import example from '../../relay.config.ts';
import { PROJECT } from '../relay.ts';

/** One line for each fault. */
const faultsOf = (input: unknown): readonly string[] => {
  try {
    defineConfig(input as Parameters<typeof defineConfig>[0]);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map(faultLine);
    throw error;
  }
};

const repository = { name: 'acme/web', connection: 'main', issueToDefect: { projectId: PROJECT } };
const withRepository = (change: object) => ({
  connections: { main: {} },
  github: { repositories: [{ ...repository, ...change }] },
});
const withOverride = (operation: string, override: object) => ({
  connections: { main: { operations: { [operation]: override } } },
});

const withMapping = (log: object) => ({
  connections: { main: { mcp: { accounts: 'offered', commands: { log } } } },
  slack: { connection: 'main' },
});
const PROJECT_SHOWN = '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01';

const person = (github?: string) => ({ email: 'ada@example.com', ...(github ? { github } : { slack: 'U0ADA' }) });

describe('a configuration', () => {
  it.each([
    ...['http://pm.example.com/{id}', 'https://{id}.example.com/', 'https://ada:secret@pm.example.com/{id}'],
    ...['https://pm.example.com/{id}>', 'https://pm.example.com/{id}/{id}', 'javascript:alert({id})'],
  ])('has no address of a page such as %s', (tasks) => {
    expect(() => defineConfig({ connections: { main: { web: { tasks } } } })).toThrow(
      `connections.main.web.tasks: expected an https address with {id}, such as https://pm.example.com/defects/{id}, found '${tasks}'`,
    );
  });

  it.each([
    ['no connection', { connections: {} }, 'connections: expected at least one connection, found an empty object'],
    ['nothing', undefined, '(whole): missing; expected an object'],
    [
      'an unknown setting',
      { connections: { main: {} }, extra: 1 },
      'extra: there is no such name here; there are connections, github, slack, timesheets, people, contact, contactChannel, caFile, deployment',
    ],
    [
      'the address of a page without a place for the id',
      { connections: { main: { web: { defects: 'https://pm.example.com/defects/' } } } },
      "connections.main.web.defects: expected an https address with {id}, such as https://pm.example.com/defects/{id}, found 'https://pm.example.com/defects/'",
    ],
    [
      'a language by its name',
      { connections: { main: {} }, slack: { connection: 'main', languages: ['german'] } },
      "slack.languages.0: expected the code of a language, such as de, found 'german'",
    ],
    [
      'a weekday in full',
      {
        connections: { main: {} },
        slack: { connection: 'main' },
        timesheets: {
          teams: [
            {
              name: 'platform',
              connection: 'main',
              timeZone: 'Europe/Berlin',
              remindAt: '16:30',
              hours: { mon: 8, tuesday: 8 },
              people: 'all',
            },
          ],
        },
      },
      'timesheets.teams.0.hours.tuesday: there is no such name here; there are mon, tue, wed, thu, fri, sat, sun',
    ],
    [
      'a setting that is written wrong',
      withRepository({ logtime: true }),
      "github.repositories.0.logtime: there is no such name here; did you mean 'logTime'?",
    ],
    [
      'a name that a connection cannot have',
      { connections: { main: {}, MAIN: {} } },
      'connections.MAIN: this name cannot be used: expected lowercase letters, digits and hyphens',
    ],
    [
      'a name that every object has',
      { connections: { main: {}, constructor: {} } },
      'connections.constructor: this name cannot be used: expected another name, because every object of JavaScript has this one',
    ],
    [
      'a limit of zero',
      { connections: { main: { limits: { perMinute: 0 } } } },
      'connections.main.limits.perMinute: expected at least 1, found 0',
    ],
    [
      'a key',
      { connections: { main: { apiKey: 'pk_live_1' } } },
      'connections.main.apiKey: this is a secret, and no setting: make a new key, because this one could be read here, and enter it with npm run -s relay -- secrets set partner/<connection>',
    ],
    [
      'a space around a label',
      withRepository({ issueToDefect: { projectId: PROJECT, labels: [' bug'] } }),
      "github.repositories.0.issueToDefect.labels.0: expected a text without spaces around it, found ' bug'",
    ],
    [
      'a value in place of a choice by labels',
      withRepository({ issueToDefect: { projectId: PROJECT, severity: 'Major' } }),
      "github.repositories.0.issueToDefect.severity: expected an object such as { default: 'Major' }, found 'Major'",
    ],
    [
      'one status for passed and failed',
      withRepository({
        tests: { workflows: ['ci.yml'], artifacts: ['junit'], status: { passed: 'ok', failed: 'ok' } },
      }),
      "github.repositories.0.tests.status.failed: expected another status than passed, found 'ok'",
    ],
    [
      'a person without a login',
      { connections: { main: {} }, people: [{ email: 'ada@example.com' }] },
      'people.0: expected slack, github or both: the person is known by them, found an object',
    ],
    [
      'a connection that is written wrong',
      withRepository({ connection: 'mian' }),
      "github.repositories.0.connection: no connection 'mian'; did you mean 'main'?",
    ],
    [
      'an unknown connection',
      withRepository({ connection: 'other' }),
      "github.repositories.0.connection: no connection 'other'; there is only main",
    ],
    [
      'a name without owner',
      withRepository({ name: 'web' }),
      "github.repositories.0.name: expected owner/name, found 'web'",
    ],
    ['no name', withRepository({ name: undefined }), 'github.repositories.0.name: missing; expected owner/name'],
    [
      'a project that is no UUID',
      withRepository({ issueToDefect: { projectId: '7' } }),
      `github.repositories.0.issueToDefect.projectId: expected a UUID such as ${PROJECT_SHOWN}, found '7'`,
    ],
    [
      'no project',
      withRepository({ issueToDefect: {} }),
      `github.repositories.0.issueToDefect.projectId: missing; expected a UUID such as ${PROJECT_SHOWN}`,
    ],
    [
      'no labels',
      withRepository({ issueToDefect: { projectId: PROJECT, labels: [] } }),
      'github.repositories.0.issueToDefect.labels: expected at least 1 entry, found an empty list',
    ],
    [
      'another kind of value than any that is allowed',
      withRepository({ issueToDefect: { projectId: PROJECT, whenClosed: 7 } }),
      "github.repositories.0.issueToDefect.whenClosed: expected 'describe', or 'leave', or an object, found 7",
    ],
    [
      'one of several kinds of value, with a fault inside',
      withRepository({ issueToDefect: { projectId: PROJECT, whenClosed: { set: { priorty: 'Low' } } } }),
      "github.repositories.0.issueToDefect.whenClosed.set.priorty: there is no such name here; did you mean 'priority'?",
    ],
    [
      'one of several values, written wrong',
      { connections: { main: { mcp: { accounts: 'offerd' } } } },
      "connections.main.mcp.accounts: expected 'off', 'offered' or 'required', found 'offerd'; did you mean 'offered'?",
    ],
    [
      'a field in a mapping that is written wrong',
      withMapping({ tool: 'log', arguments: { task: '{tsk}' }, schema: '0123456789abcdef0123' }),
      "connections.main.mcp.commands.log.arguments: there is no field {tsk} here; did you mean 'task'?",
    ],
    [
      'a time zone that is written wrong',
      { connections: { main: {} }, people: [{ ...person(), timeZone: 'Europe/Berln' }] },
      "people.0.timeZone: there is no time zone 'Europe/Berln'; did you mean 'Europe/Berlin'?",
    ],
    [
      'two repositories alike',
      { connections: { main: {} }, github: { repositories: [repository, { ...repository, name: 'Acme/Web' }] } },
      "github.repositories.1.name: 'Acme/Web' is already at github.repositories.0.name",
    ],
    [
      'a login of two people',
      { connections: { main: {} }, people: [person('Ada'), person('ada')] },
      "people.1.github: 'ada' is already at people.0.github",
    ],
    [
      'an override of an unknown operation',
      withOverride('defects/creat', {}),
      "connections.main.operations.defects/creat: there is no such operation; did you mean 'defects/create'?",
    ],
    [
      'an override of a documented one',
      withOverride('defects/update', { path: 'x' }),
      'connections.main.operations.defects/update: the service documents its path and fields; only ids and paged can differ',
    ],
    [
      'pages of what is no list',
      withOverride('defects/update', { paged: false }),
      'connections.main.operations.defects/update: it is not a list, so it is never paged',
    ],
    [
      'the type of what is no id',
      withOverride('defects/update', { ids: { title: 'text' } }),
      expect.stringContaining('expected the name of an id, such as item_id'),
    ],
    [
      'a retention that CloudWatch does not have',
      { connections: { main: {} }, deployment: { logRetentionDays: 31 } },
      expect.stringMatching(/^deployment\.logRetentionDays: expected one of 1, 3, .*3653, found 31$/),
    ],
    [
      'a unit of what is no duration',
      withOverride('timelogs/create', { fields: { note: { name: 'text', unit: 'minutes' } } }),
      'connections.main.operations.timelogs/create: fields.note is not a duration; only hours and estimated_hours have a unit',
    ],
    [
      'a unit that there is not',
      withOverride('timelogs/create', { fields: { hours: { name: 'spent', unit: 'days' } } }),
      "connections.main.operations.timelogs/create.fields.hours.unit: expected 'hours', 'minutes' or 'seconds', found 'days'",
    ],
    [
      'another path of a documented one',
      withOverride('timelogs/list', { path: 'x' }),
      'connections.main.operations.timelogs/list: its path is documented; only fields can differ',
    ],
  ])('an invalid setting is refused with its path, what is expected and what was found: %s', (_, input, fault) => {
    expect(faultsOf(input)).toEqual([fault]);
  });

  it.each([
    [['day'], "expected 'day'"],
    [['day', 'week'], "expected 'day' or 'week'"],
    [['day', 'week', 7], "expected 'day', 'week' or 7"],
  ])('of the values %j, it says: %s', (values, said) => {
    expect(expectation({ code: 'invalid_value', values, input: 'month' })).toBe(said);
  });

  it('a configuration may name a field with its unit, and a project with a UUID of any version', () => {
    const override = { fields: { hours: { name: 'minutes', unit: 'minutes' }, note: 'text' } };
    expect(faultsOf(withOverride('timelogs/create', override))).toEqual([]);
    const projectId = '00000000-0000-0000-0000-000000000007';
    expect(faultsOf(withRepository({ issueToDefect: { projectId } }))).toEqual([]);
  });

  it('an invalid configuration is refused with all errors at once', () => {
    const input = { connections: { MAIN: {}, other: { limits: { perDay: -1 } } }, github: { apiUrl: 'no URL' } };
    expect(faultsOf(input)).toHaveLength(3);
  });

  it('a configuration gets the limits of the service and the other defaults', () => {
    expect(defineConfig({ connections: { main: {} } })).toEqual({
      connections: {
        main: {
          limits: { perMinute: 120, perDay: 5_000 },
          mcp: { limits: { perMinute: 120, perDay: 5_000 }, accounts: 'off', commands: {} },
          operations: {},
          strangersShare: 0.1,
        },
      },
      github: { apiUrl: 'https://api.github.com', repositories: [] },
      people: [],
      contact: 'your Partner Relay administrator',
      deployment: {
        stages: {
          dev: { bootstrapQualifier: 'relay', existingSecrets: [], protected: false, tags: {} },
          prod: { bootstrapQualifier: 'relay', existingSecrets: [], protected: true, tags: {} },
        },
        alarms: { emails: [] },
        maxConcurrency: { interactive: 5, background: 5 },
        logRetentionDays: 30,
      },
    });
  });

  it('a repository is found by its name in any letter case', () => {
    expect(findRepository(example, 'codertocat/hello-world')?.name).toBe('Codertocat/Hello-World');
  });
});
