import { describe, expect, it } from 'vitest';
import { findRepository } from '../../lib/config/find-repository.ts';
import { ConfigError, defineConfig } from '../../lib/config/schema.ts';
import example from '../../relay.config.ts';
import { PROJECT } from '../relay.ts';

const faultsOf = (input: unknown): readonly string[] => {
  try {
    defineConfig(input as Parameters<typeof defineConfig>[0]);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
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

const person = (github?: string) => ({ email: 'ada@example.com', ...(github && { github }) });

describe('a configuration', () => {
  it.each([
    ['no connection', { connections: {} }, /^connections: expected at least one/],
    ['an unknown setting', { connections: { main: {} }, extra: 1 }, /^\(whole\): Unrecognized key: "extra"/],
    [
      'a limit of zero',
      { connections: { main: { limits: { perMinute: 0 } } } },
      /^connections\.main\.limits\.perMinute/,
    ],
    [
      'an unknown connection',
      withRepository({ connection: 'other' }),
      /^github\.repositories\.0\.connection: no connection 'other'; there are main/,
    ],
    ['a name without owner', withRepository({ name: 'web' }), /^github\.repositories\.0\.name: expected owner\/name/],
    [
      'a project that is no UUID',
      withRepository({ issueToDefect: { projectId: '7' } }),
      /^github\.repositories\.0\.issueToDefect\.projectId/,
    ],
    [
      'no labels',
      withRepository({ issueToDefect: { projectId: PROJECT, labels: [] } }),
      /^github\.repositories\.0\.issueToDefect\.labels/,
    ],
    [
      'two repositories alike',
      { connections: { main: {} }, github: { repositories: [repository, { ...repository, name: 'Acme/Web' }] } },
      /^github\.repositories\.1\.name: 'Acme\/Web' is already at github\.repositories\.0\.name/,
    ],
    [
      'a login of two people',
      { connections: { main: {} }, people: [person('Ada'), person(), person('ada')] },
      /^people\.2\.github: 'ada' is already at people\.0\.github/,
    ],
    [
      'an override of an unknown operation',
      withOverride('defects/creat', {}),
      /^connections\.main\.operations\.defects\/creat: no such operation/,
    ],
    ['an override of a documented one', withOverride('defects/update', { path: 'x' }), /cannot be overridden/],
    [
      'fewer reserved workers than may run',
      { connections: { main: {} }, deployment: { reservedConcurrency: { worker: 9 } } },
      /^deployment\.reservedConcurrency\.worker: expected at least 10/,
    ],
    [
      'a retention that CloudWatch does not have',
      { connections: { main: {} }, deployment: { logRetentionDays: 31 } },
      /^deployment\.logRetentionDays/,
    ],
    [
      'a unit of what is no duration',
      withOverride('timelogs/create', { fields: { note: { name: 'text', unit: 'minutes' } } }),
      /^connections\.main\.operations\.timelogs\/create: fields\.note is not a duration; only hours and estimated_hours/,
    ],
    [
      'a unit that there is not',
      withOverride('timelogs/create', { fields: { hours: { name: 'spent', unit: 'days' } } }),
      /^connections\.main\.operations\.timelogs\/create\.fields\.hours: .*units are hours, minutes, seconds/,
    ],
    ['another path of a documented one', withOverride('timelogs/list', { path: 'x' }), /its path is documented/],
  ])('an invalid setting is refused with its path: %s', (_, input, fault) => {
    expect(faultsOf(input)).toEqual([expect.stringMatching(fault)]);
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
          mcp: { limits: { perMinute: 120, perDay: 5_000 }, link: 'off', commands: {} },
          operations: {},
          strangersShare: 0.1,
        },
      },
      github: { apiUrl: 'https://api.github.com', repositories: [] },
      people: [],
      contact: 'your Partner Relay administrator',
      deployment: {
        stages: { dev: { protected: false, tags: {} }, prod: { protected: true, tags: {} } },
        alarms: { emails: [] },
        maxConcurrency: { interactive: 5, background: 5 },
        reservedConcurrency: {},
        logRetentionDays: 30,
        tracing: false,
      },
    });
  });

  it('a repository is found by its name in any letter case', () => {
    expect(findRepository(example, 'codertocat/hello-world')?.name).toBe('Codertocat/Hello-World');
  });
});
