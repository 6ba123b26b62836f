import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const folders = 'bench,cli,console,docs,functions,infra,lib,local,sandbox,test';
const exclude = ['**/node_modules/**'];
const pages = globSync(['*.md', `{${folders}}/**/*.md`], { cwd: root, exclude });
const sources = globSync(['*.ts', `{${folders}}/**/*.{ts,tsx}`], { cwd: root, exclude });

const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(page: string): string[] {
  return [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** What is wrong with a reference from a file, relative to the root: `docs/scale.md`. */
function fault(file: string, path: string, anchor: string | undefined): string[] {
  if (!existsSync(join(root, path))) return [`${file}: there is no ${path}`];
  if (anchor === undefined || anchorsOf(path).includes(anchor)) return [];
  return [`${file}: ${path} has no section #${anchor}`];
}

describe('the documentation', () => {
  it.each(pages)('has links with existing targets: %s', (page) => {
    const links = [...textOf(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([\w-]+))?\)/g)];
    const faults = links.flatMap(([, path, anchor]) => fault(page, path ? join(page, '..', path) : page, anchor));
    expect(faults).toEqual([]);
  });

  it.each(pages)('names files that exist: %s', (page) => {
    const paths = new RegExp(`\`((?:${folders.replaceAll(',', '|')})/[\\w./-]+)\``, 'g');
    expect([...textOf(page).matchAll(paths)].flatMap(([, path = '']) => fault(page, path, undefined))).toEqual([]);
  });

  it('is listed in README.md, page by page', () => {
    const listed = textOf('README.md');
    const unlisted = globSync('docs/*.md', { cwd: root }).filter((page) => !listed.includes(`](${page})`));
    expect(unlisted).toEqual([]);
  });

  it('has the pages and sections that the code cites', () => {
    const faults = sources.flatMap((file) =>
      [...textOf(file).matchAll(/(?<![\w/])(docs\/[\w/-]+\.md)(?:#([\w-]+|[^\s`'"]))?/g)].flatMap(
        ([, path = '', anchor]) => fault(file, path, anchor),
      ),
    );
    expect(faults).toEqual([]);
  });
});
