import { expect, it } from 'vitest';
import { type Link, settleTie } from '../../lib/links/link-life.ts';

const tied = { state: 'a', name: 'acme/web#1', version: '2026-03-02T12:00:00Z', wanted: true, revision: 3, tied: true };
const link: Link = { life: 'unclaimed', newest: tied, turn: 3 };
const read = (state: string, version: string) => ({ ...tied, state, version });

it.each([
  ['the state that GitHub says', read('b', tied.version), 'b'],
  ['a later state', read('c', '2026-03-02T12:00:01Z'), 'c'],
  ['its own state where GitHub says an earlier one', read('old', '2026-03-02T11:59:59Z'), 'a'],
  ['its own state where GitHub cannot be asked', undefined, 'a'],
])('a tie ends with %s', (_, told, state) => {
  expect(settleTie(link, tied, told)).toMatchObject({ newest: { state, revision: 3, tied: false } });
});

it('a tie is left alone where another event came while GitHub was asked', () => {
  const since = { ...link, newest: { ...tied, state: 'd', revision: 4 } };
  expect(settleTie(since, tied, read('b', tied.version))).toBeUndefined();
});
