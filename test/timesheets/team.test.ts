import { expect, it } from 'vitest';
import { teamOf } from '../../lib/timesheets/team.ts';
import { team } from './team.ts';

const teams = [
  team({ name: 'everybody' }),
  team({ name: 'web', people: ['Ada@example.com'] }),
  team({ name: 'elsewhere', connection: 'other', people: ['bob@example.com'] }),
];

it.each([
  ['the team that lists them, before that of all', 'main', 'ada@example.com', 'web'],
  ['it in any letter case', 'main', 'ADA@Example.com ', 'web'],
  ['that of all others', 'main', 'bob@example.com', 'everybody'],
  ['the one of their connection', 'other', 'bob@example.com', 'elsewhere'],
  ['none where nobody lists them', 'other', 'ada@example.com', undefined],
])('a person is in %s', (_, connection, email, name) => {
  expect(teamOf(teams, connection, email)?.name).toBe(name);
});
