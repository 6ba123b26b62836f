import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

const rows = [...textOf('docs/promises.md').matchAll(/^\| (.+) \| (.+) \| `(.+)` \|$/gm)].map(
  ([, promise = '', title = '', file = '']) => ({ promise: bare(promise), title, file }),
);

/** Removes the period, because only some pages have it. */
function bare(promise: string): string {
  return promise.replaceAll(/\s+/g, ' ').replace(/\.$/, '');
}

it('each promise in bold has a row in docs/promises.md, and each row is a promise in bold', () => {
  const bold = ['docs/exactly-once.md', 'SECURITY.md'].flatMap((page) =>
    [...textOf(page).matchAll(/\*\*([^*]+)\*\*/g)].map(([, promise = '']) => bare(promise)),
  );
  expect(new Set(rows.map(({ promise }) => promise))).toEqual(new Set(bold));
});

it.each(rows)('the test that $file is said to contain exists: $title', ({ title, file }) => {
  const titles = [...textOf(file).matchAll(/\(\s*(['"`])((?:(?!\1|\n).)+)\1,\s*(?:async )?\(/g)].map(
    ([, , one]) => one,
  );
  expect(titles).toContain(title);
});
