import { expect, it } from 'vitest';
import { mutationsOf, withMistake } from './mutations.ts';

const mutantsOf = (source: string) =>
  mutationsOf('lib/any.ts', source).map((mutation) => withMistake(source, mutation));

it.each([
  ['x = a < b;', 'x = a <= b;'],
  ['x = a < b;', 'x = a > b;'],
  ['x = a && b;', 'x = a || b;'],
  ['x = a ?? b;', 'x = a;'],
  ['x = !a;', 'x = a;'],
  ['x = a ? b : c;', 'x = a ? c : b;'],
  ['if (a) throw b;', 'if (!(a)) throw b;'],
  ['if (a) throw b;', ''],
  ['() => { return a(); };', '() => { a(); };'],
  ['await a();', 'a();'],
  ['await a();', ''],
  ['x = a.filter(b);', 'x = a;'],
  ['x = a.some(b);', 'x = a.every(b);'],
  ['x = { ...a, b };', 'x = {  b };'],
  ['x = true;', 'x = false;'],
  ['x = 3;', 'x = 4;'],
  ['x = 500;', 'x = 50;'],
])('%s can become %s', (source, mutant) => {
  expect(mutantsOf(source)).toContain(mutant);
});

it.each([
  ["import { a } from 'b';"],
  ['type A = 1 | true;'],
  ['const a: 1 = b;'],
  ["const a = 'b < c';"],
  ['const a = b; // c && d'],
  ['log.info({ a: !b });'],
  ['const a = string().meta({ example: 500 });'],
])('%s stays as it is', (source) => {
  expect(mutantsOf(source)).toEqual([]);
});
