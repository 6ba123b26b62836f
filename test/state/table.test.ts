import { describe, expect, it } from 'vitest';
import { type Key, keys } from '../../lib/state/table/keys.ts';
import { startDynalite } from './table-server.ts';
import { tableStatements } from './table-statements.ts';

describe('on dynalite', () => tableStatements(startDynalite));

it.each<[string, (name: string) => Key]>([
  ['the name of an issue', keys.linkName],
  ['who a person is', (id) => keys.person('github', id, 'main')],
  ['whose turn it is', (id) => keys.turns('github', id)],
  ['a task that was checked', (task) => keys.checkedTask('main', task)],
  ['a grant', (id) => keys.grant('github', id, 'main')],
  ['a link that was asked for', (id) => keys.accountLink('github', id, 'main')],
  ['how many sign-ins began', (id) => keys.linkShare('github', id, '1')],
  ['the tests that fail', (repository) => keys.failingCases(repository, 'ci', 'main')],
])('the key of %s is the same however a name is written, because GitHub ignores letter case', (_, keyOf) => {
  expect(keyOf('Octo/Hello-World')).toEqual(keyOf('octo/hello-world'));
});
