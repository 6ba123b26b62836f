import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

const rows = textOf('docs/mcp-contract.md')
  .split('\n')
  .filter((line) => /^\| \d+ \|/.test(line))
  .map((line) => line.split(' | '));

/** Test files, each with the names that a cell quotes: `test/x.test.ts`: "one", "another". */
const quotes = rows.flatMap(([, , , , tests = '']) =>
  [...tests.matchAll(/`(test\/[\w./-]+)`((?:[:,] "[^"]+")*)/g)].map(([, file = '', names = '']) => ({
    file,
    names: [...names.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name),
  })),
);

it('docs/mcp-contract.md has every statement, numbered', () => {
  expect(rows.map(([number]) => number)).toEqual(Array.from({ length: 30 }, (_, index) => `| ${index + 1}`));
});

it('docs/mcp-contract.md quotes names of tests that the named files have', () => {
  const unquoted = rows.map((cells) => cells[4]?.replaceAll(/`test\/[\w./-]+`(?:[:,] "[^"]+")*/g, ''));
  expect(unquoted.filter((rest) => rest?.includes('"'))).toEqual([]);
  const missing = quotes.flatMap(({ file, names }) => {
    const text = textOf(file);
    return names.filter((name) => !text.includes(name)).map((name) => `${file}: ${name}`);
  });
  expect(missing).toEqual([]);
});
