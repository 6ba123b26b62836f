import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const folders = 'bench,cli,console,docs,functions,infra,lib,local,pack,sandbox';

it('a doc comment names its subject, and does not continue the name of what it describes', () => {
  const sources = globSync(`{${folders}}/**/*.{ts,tsx}`, { cwd: root, exclude: ['**/node_modules/**'] });
  const found = sources.flatMap((file) => {
    const comments = readFileSync(join(root, file), 'utf8').matchAll(/\/\*\*\s*(?:\* )?((?:Of|Those|Whose|As) .*)/g);
    return [...comments].map(([, comment]) => `${file}: ${comment}`);
  });
  expect(found).toEqual([]);
});
