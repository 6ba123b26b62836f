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

const main = { connections: { main: {} } };
const repository = { name: 'acme/web', connection: 'main', issueToDefect: { projectId: PROJECT } };
const withRepository = (change: object) => ({ ...main, github: { repositories: [{ ...repository, ...change }] } });
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

  const misspelt = { tool: 'log', arguments: { task: '{tsk}' }, schema: '0123456789abcdef0123' };
  const NO_FIELD = "connections.main.mcp.commands.log.arguments: there is no field {tsk} here; did you mean 'task'?";
  const UNKNOWN = 'people.0: expected slack, github or both: the person is known by them, found an object';
  const TWICE = "github.repositories.1.name: 'Acme/Web' is already at github.repositories.0.name";
  it.each([
    [{ connections: {} }, 'connections: expected at least one connection, found an empty object'],
    [undefined, '(whole): missing; expected an object'],
    [withMapping(misspelt), NO_FIELD],
  ])('invalid settings are refused with their path, the expected and the found value: %j', (input, fault) => {
    expect(faultsOf(input)).toEqual([fault]);
  });

  const NO_NAME =
    'extra: this name is unknown; there are connections, github, slack, timesheets, people, contact, contactChannel, caFile, deployment';
  const MAIN = 'connections.MAIN: this name cannot be used: expected lowercase letters, digits and hyphens';
  const OF_EVERY_OBJECT =
    'connections.constructor: this name cannot be used: expected another name, because every object of JavaScript has this one';
  const DAYS = /^deployment\.logRetentionDays: expected one of 1, 3, .*3653, found 31$/;
  const german = { connection: 'main', languages: ['german'] };
  const nowhere = { ...person(), timeZone: 'Europe/Berln' };
  it.each([
    [{ extra: 1 }, NO_NAME],
    [{ slack: german }, "slack.languages.0: expected the code of a language, such as de, found 'german'"],
    [{ connections: { main: {}, MAIN: {} } }, MAIN],
    [{ connections: { main: {}, constructor: {} } }, OF_EVERY_OBJECT],
    [{ people: [{ email: 'ada@example.com' }] }, UNKNOWN],
    [{ people: [nowhere] }, "people.0.timeZone: there is no time zone 'Europe/Berln'; did you mean 'Europe/Berlin'?"],
    [{ people: [person('Ada'), person('ada')] }, "people.1.github: 'ada' is already at people.0.github"],
    [{ github: { repositories: [repository, { ...repository, name: 'Acme/Web' }] } }, TWICE],
    [{ deployment: { logRetentionDays: 31 } }, expect.stringMatching(DAYS)],
  ])('an invalid setting is refused with its path, the expected and the found value: %j', (settings, fault) => {
    expect(faultsOf({ ...main, ...settings })).toEqual([fault]);
  });

  const IS_SECRET =
    'apiKey: this is a secret, not a setting: create a new key, because this one may have been read here, and enter it with npx partner-relay secrets set partner/<connection>';
  const NO_ACCOUNTS = "mcp.accounts: expected 'off', 'offered' or 'required', found 'offerd'; did you mean 'offered'?";
  it.each([
    [{ limits: { perMinute: 0 } }, 'limits.perMinute: expected at least 1, found 0'],
    [{ apiKey: 'pk_live_1' }, IS_SECRET],
    [{ mcp: { accounts: 'offerd' } }, NO_ACCOUNTS],
  ])('an invalid setting of a connection is refused: %j', (settings, fault) => {
    expect(faultsOf({ connections: { main: settings } })).toEqual([`connections.main.${fault}`]);
  });

  const defect = (change: object) => ({ issueToDefect: { projectId: PROJECT, ...change } });
  const whenClosed = { whenClosed: { set: { priorty: 'Low' } } };
  const tests = { workflows: ['ci.yml'], artifacts: ['junit'], status: { passed: 'ok', failed: 'ok' } };
  const NO_OBJECT = "issueToDefect.severity: expected an object such as { default: 'Major' }, found 'Major'";
  it.each([
    [{ logtime: true }, "logtime: this name is unknown; did you mean 'logTime'?"],
    [{ connection: 'mian' }, "connection: no connection 'mian'; did you mean 'main'?"],
    [{ connection: 'other' }, "connection: no connection 'other'; there is only main"],
    [{ name: 'web' }, "name: expected owner/name, found 'web'"],
    [{ name: undefined }, 'name: missing; expected owner/name'],
    [defect({ projectId: '7' }), `issueToDefect.projectId: expected a UUID such as ${PROJECT}, found '7'`],
    [defect({ projectId: undefined }), `issueToDefect.projectId: missing; expected a UUID such as ${PROJECT}`],
    [defect({ labels: [] }), 'issueToDefect.labels: expected at least 1 entry, found an empty list'],
    [defect({ labels: [' bug'] }), "issueToDefect.labels.0: expected a text without spaces around it, found ' bug'"],
    [defect({ severity: 'Major' }), NO_OBJECT],
    [defect({ whenClosed: 7 }), "issueToDefect.whenClosed: expected 'describe', or 'leave', or an object, found 7"],
    [defect(whenClosed), "issueToDefect.whenClosed.set.priorty: this name is unknown; did you mean 'priority'?"],
    [{ tests }, "tests.status.failed: expected another status than passed, found 'ok'"],
  ])('an invalid setting of a repository is refused: %j', (change, fault) => {
    expect(faultsOf(withRepository(change))).toEqual([`github.repositories.0.${fault}`]);
  });

  const days = { name: 'spent', unit: 'days' };
  const minutes = { name: 'text', unit: 'minutes' };
  const NO_DURATION = ': fields.note is not a duration; only hours and estimated_hours have a unit';
  const NO_UNIT = ".fields.hours.unit: expected 'hours', 'minutes' or 'seconds', found 'days'";
  it.each([
    ['defects/creat', {}, ": there is no such operation; did you mean 'defects/create'?"],
    ['defects/update', { path: 'x' }, ': the service documents its path and fields; only ids and paged can differ'],
    ['defects/update', { paged: false }, ': it is not a list, so it is never paged'],
    ['defects/update', { ids: { title: 'text' } }, /expected the name of an id, such as item_id/],
    ['timelogs/create', { fields: { note: minutes } }, NO_DURATION],
    ['timelogs/create', { fields: { hours: days } }, NO_UNIT],
    ['timelogs/list', { path: 'x' }, ': its path is documented; only fields can differ'],
  ])('an invalid override of %s is refused: %j', (operation, override, fault) => {
    const at = `connections.main.operations.${operation}`;
    const said = typeof fault === 'string' ? at + fault : expect.stringMatching(fault);
    expect(faultsOf(withOverride(operation, override))).toEqual([said]);
  });

  it.each([
    [['day'], "expected 'day'"],
    [['day', 'week'], "expected 'day' or 'week'"],
    [['day', 'week', 7], "expected 'day', 'week' or 7"],
  ])('for the values %j, it says: %s', (values, said) => {
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
        maxConcurrency: { interactive: 5 },
        logRetentionDays: 30,
      },
    });
  });

  it('a repository is found by its name in any letter case', () => {
    expect(findRepository(example, 'codertocat/hello-world')?.name).toBe('Codertocat/Hello-World');
  });
});
