import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { textsIn } from '../../docs/texts.ts';

const cwd = join(import.meta.dirname, '../..');
const textOf = (file: string) => readFileSync(join(cwd, file), 'utf8');
const sources = globSync('{cli,console,functions,infra,lib}/**/*.{js,ts,tsx}', { cwd });
const tests = globSync('test/**/*.test.ts', { cwd });
const namesIn = (file: string) => textOf(file).match(NAMES) ?? [];
const NAMES = /(?<=(?:\b(?:it|describe)|\](?: as const)?\)|\)\))\(\s*)(['"`]).*?\1(?=,)/g;
const textsOf = (file: string) => [...(textOf(file).match(/\/\*\*.*?\*\/|\/\/ [^\n]*/gs) ?? []), ...textsIn(file)];
/** Without docs/configuration.md, which is generated. */
const written = globSync(['*.md', '{docs,test}/**/*.md'], { cwd }).filter((page) => page !== 'docs/configuration.md');
const code = /^```.*?^```|^ {4}.*?$/gms;
const tables = /(?<=made by `npm run docs` -->\n\n).*?(?=\n(?:\n|$))/gs;
const proseOf = (page: string) => textOf(page).replaceAll(code, '').replaceAll(tables, '');

it.each<[string, RegExp, most: number]>([
  ['README.md', /^README/, 700],
  ['CONTRIBUTING.md', /^CONTRIBUTING/, 1_000],
  ['SECURITY.md', /^SECURITY/, 2_200],
  ['the guides', /^docs\/guides\//, 6_500],
  ['the reference', /^docs\/[\w-]+\.md/, 19_500],
  ['the decisions', /^docs\/decisions\//, 10_000],
  ['the rest', /^(?!README|CONTRIBUTING|SECURITY|docs\/)/, 500],
  ['all pages', /./, 40_400],
])('%s: hand-written words, whose number may only shrink', (_, pages, most) => {
  const words = written.filter((page) => pages.test(page)).flatMap((page) => proseOf(page).match(/\S+/g) ?? []);
  expect(words.filter((word) => word !== '|').length).toBeLessThanOrEqual(most);
});

const stumbles =
  /\b(?:whoever|anew|of which(?!-)|what cannot|has the \w+ an?|it is not known whether|there is no way to|all the same|gets? on|is told (?:so|of)|are looked at|is looked at|of whom|that is none|(?:nobody|no one) knows which)\b|(?:\. |\*\* |\/\/ )One that|[\p{L},.;:] {2,}\p{L}/giu;
/** A list of fragments in which only the last ends with a full stop. */
const stopped = /(?<=\n\n)(?:- (?:[^\n]|\n +)*[^.:!?;,]\n)+- (?:[^\n]|\n +)*\.(?=\n\n|\n*$)/g;

it.each([...written, ...sources, ...tests])('%s has no phrase that readers stumble over', (file) => {
  const isPage = file.endsWith('.md');
  const text = isPage ? proseOf(file) : (file.startsWith('test/') ? namesIn(file) : textsOf(file)).join('\n');
  const lines = text.replaceAll(/(?:\s*\n\s*(?:\*|\/\/)? *)+/g, ' ');
  expect([...(lines.match(stumbles) ?? []), ...((isPage && text.match(stopped)) || [])]).toEqual([]);
});
