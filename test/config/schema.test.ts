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

const person = (github?: string) => ({ email: 'ada@example.com', ...(github ? { github } : { slack: 'U0ADA' }) });

describe('a configuration', () => {
  it.each([
    ...['http://pm.example.com/{id}', 'https://{id}.example.com/', 'https://ada:secret@pm.example.com/{id}'],
    ...['https://pm.example.com/{id}>', 'https://pm.example.com/{id}/{id}', 'javascript:alert({id})'],
    'https://pm.example.com/',
  ])('has no address of a page such as %s', (tasks) => {
    expect(() => defineConfig({ connections: { main: { web: { tasks } } } })).toThrow(
      `connections.main.web.tasks: expected an https address with {id}, such as https://pm.example.com/defects/{id}, found '${tasks}'`,
    );
  });

  it.each([
    [{ connections: {} }, 'connections: expected at least one connection, found an empty object'],
    [undefined, '(whole): missing; expected an object'],
    [
      { connections: { main: {} }, extra: 1 },
      'extra: there is no such name here; there are connections, github, slack, timesheets, people, contact, contactChannel, caFile, deployment',
    ],
    [
      { connections: { main: {} }, slack: { connection: 'main', languages: ['german'] } },
      "slack.languages.0: expected the code of a language, such as de, found 'german'",
    ],
    [
      withRepository({ logtime: true }),
      "github.repositories.0.logtime: there is no such name here; did you mean 'logTime'?",
    ],
    [
      { connections: { main: {}, MAIN: {} } },
      'connections.MAIN: this name cannot be used: expected lowercase letters, digits and hyphens',
    ],
    [
      { connections: { main: {}, constructor: {} } },
      'connections.constructor: this name cannot be used: expected another name, because every object of JavaScript has this one',
    ],
    [
      { connections: { main: { limits: { perMinute: 0 } } } },
      'connections.main.limits.perMinute: expected at least 1, found 0',
    ],
    [
      { connections: { main: { apiKey: 'pk_live_1' } } },
      'connections.main.apiKey: this is a secret, and no setting: make a new key, because this one could be read here, and enter it with npm run -s relay -- secrets set partner/<connection>',
    ],
    [
      withRepository({ issueToDefect: { projectId: PROJECT, labels: [' bug'] } }),
      "github.repositories.0.issueToDefect.labels.0: expected a text without spaces around it, found ' bug'",
    ],
    [
      withRepository({ issueToDefect: { projectId: PROJECT, severity: 'Major' } }),
      "github.repositories.0.issueToDefect.severity: expected an object such as { default: 'Major' }, found 'Major'",
    ],
    [
      withRepository({
        tests: { workflows: ['ci.yml'], artifacts: ['junit'], status: { passed: 'ok', failed: 'ok' } },
      }),
      "github.repositories.0.tests.status.failed: expected another status than passed, found 'ok'",
    ],
    [
      { connections: { main: {} }, people: [{ email: 'ada@example.com' }] },
      'people.0: expected slack, github or both: the person is known by them, found an object',
    ],
    [
      withRepository({ connection: 'mian' }),
      "github.repositories.0.connection: no connection 'mian'; did you mean 'main'?",
    ],
    [
      withRepository({ connection: 'other' }),
      "github.repositories.0.connection: no connection 'other'; there is only main",
    ],
    [withRepository({ name: 'web' }), "github.repositories.0.name: expected owner/name, found 'web'"],
    [withRepository({ name: undefined }), 'github.repositories.0.name: missing; expected owner/name'],
    [
      withRepository({ issueToDefect: { projectId: '7' } }),
      `github.repositories.0.issueToDefect.projectId: expected a UUID such as ${PROJECT}, found '7'`,
    ],
    [
      withRepository({ issueToDefect: {} }),
      `github.repositories.0.issueToDefect.projectId: missing; expected a UUID such as ${PROJECT}`,
    ],
    [
      withRepository({ issueToDefect: { projectId: PROJECT, labels: [] } }),
      'github.repositories.0.issueToDefect.labels: expected at least 1 entry, found an empty list',
    ],
    [
      withRepository({ issueToDefect: { projectId: PROJECT, whenClosed: 7 } }),
      "github.repositories.0.issueToDefect.whenClosed: expected 'describe', or 'leave', or an object, found 7",
    ],
    [
      withRepository({ issueToDefect: { projectId: PROJECT, whenClosed: { set: { priorty: 'Low' } } } }),
      "github.repositories.0.issueToDefect.whenClosed.set.priorty: there is no such name here; did you mean 'priority'?",
    ],
    [
      { connections: { main: { mcp: { accounts: 'offerd' } } } },
      "connections.main.mcp.accounts: expected 'off', 'offered' or 'required', found 'offerd'; did you mean 'offered'?",
    ],
    [
      withMapping({ tool: 'log', arguments: { task: '{tsk}' }, schema: '0123456789abcdef0123' }),
      "connections.main.mcp.commands.log.arguments: there is no field {tsk} here; did you mean 'task'?",
    ],
    [
      { connections: { main: {} }, people: [{ ...person(), timeZone: 'Europe/Berln' }] },
      "people.0.timeZone: there is no time zone 'Europe/Berln'; did you mean 'Europe/Berlin'?",
    ],
    [
      { connections: { main: {} }, github: { repositories: [repository, { ...repository, name: 'Acme/Web' }] } },
      "github.repositories.1.name: 'Acme/Web' is already at github.repositories.0.name",
    ],
    [
      { connections: { main: {} }, people: [person('Ada'), person('ada')] },
      "people.1.github: 'ada' is already at people.0.github",
    ],
    [
      withOverride('defects/creat', {}),
      "connections.main.operations.defects/creat: there is no such operation; did you mean 'defects/create'?",
    ],
    [
      withOverride('defects/update', { path: 'x' }),
      'connections.main.operations.defects/update: the service documents its path and fields; only ids and paged can differ',
    ],
    [
      withOverride('defects/update', { paged: false }),
      'connections.main.operations.defects/update: it is not a list, so it is never paged',
    ],
    [
      withOverride('defects/update', { ids: { title: 'text' } }),
      expect.stringContaining('expected the name of an id, such as item_id'),
    ],
    [
      { connections: { main: {} }, deployment: { logRetentionDays: 31 } },
      expect.stringMatching(/^deployment\.logRetentionDays: expected one of 1, 3, .*3653, found 31$/),
    ],
    [
      withOverride('timelogs/create', { fields: { note: { name: 'text', unit: 'minutes' } } }),
      'connections.main.operations.timelogs/create: fields.note is not a duration; only hours and estimated_hours have a unit',
    ],
    [
      withOverride('timelogs/create', { fields: { hours: { name: 'spent', unit: 'days' } } }),
      "connections.main.operations.timelogs/create.fields.hours.unit: expected 'hours', 'minutes' or 'seconds', found 'days'",
    ],
    [
      withOverride('timelogs/list', { path: 'x' }),
      'connections.main.operations.timelogs/list: its path is documented; only fields can differ',
    ],
  ])('an invalid setting is refused with its path, what is expected and what was found: %j', (input, fault) => {
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
