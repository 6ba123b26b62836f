import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';
import { actingAsPerson } from './acting-as-person.ts';
import { acrossAutomations, nevers } from './nevers.ts';

/**
 * The folders, from the bottom up. A file imports from its own folder and from lower layers. Folders of one layer do
 * not import each other. CONTRIBUTING.md describes each; `lib` stands for the files at its top that are not listed.
 */
const layers: readonly (readonly string[])[] = [
  ['lib', 'sandbox', 'package.json'],
  ['lib/service/partner', 'lib/state/table', 'lib/state/http', 'lib/state/metrics'],
  [
    'lib/triggers',
    'lib/as-person/protocol',
    'lib/commands',
    'lib/faults',
    'lib/links',
    'lib/service/budget',
    'lib/state/secrets',
  ],
  ['lib/as-person/grants', 'lib/config'],
  [
    'lib/as-person/linking',
    'lib/platforms',
    'lib/service/connection',
    'lib/relay.ts',
    'relay.config.ts',
    'relay.config.test.ts',
    'docs',
  ],
  ['lib/engine/record'],
  ['lib/engine/line'],
  ['lib/engine/run'],
  ['lib/engine/operate', 'lib/as-person/steps'],
  ['lib/runtime.ts', 'lib/schedules.ts'],
  ['lib/checks', 'lib/notices', 'lib/people', 'lib/replies', 'lib/timesheets'],
  ['lib/automations'],
  ['lib/as-person/slack'],
  ['lib/as-person'],
  ['lib/intake', 'infra'],
  ['lib/operators'],
  ['functions'],
  ['local'],
  ['console'],
  ['cli'],
  ['pack'],
  ['test'],
  ['bench', 'docs/generate.ts'],
  ['test/bench'],
];

const listed = layers.flatMap((folders, layer) => folders.map((folder) => ({ folder, layer })));

/** The longest listed path, folder or file, that contains this path. */
function placeOf(path: string): { folder: string; layer: number } {
  const found = listed.filter(({ folder }) => path === folder || path.startsWith(`${folder}/`));
  const [place] = found.sort((a, b) => b.folder.length - a.folder.length);
  if (!place) throw new Error(`${path} is in no layer: add its folder to test/layers.test.ts`);
  return place;
}

const files = globSync('{*,*/**/*}.{ts,tsx}', {
  exclude: ['**/node_modules/**', 'node_modules/**', 'cdk.out/**', 'dist/**'],
}).filter((file) => !file.endsWith('.config.ts') || file === 'relay.config.ts');
const imports = files.toSorted().flatMap((from) => {
  const found = readFileSync(from, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g);
  return [...found].map(([, path = '']) => ({ from, to: normalize(join(dirname(from), path)) }));
});
const inWords = ({ from, to }: { from: string; to: string }) => `${from} -> ${to}`;

it('no file imports from a layer above its own', () => {
  const upward = imports.filter(({ from, to }) => {
    const [importing, imported] = [placeOf(from), placeOf(to)];
    return imported.folder !== importing.folder && imported.layer >= importing.layer;
  });
  expect(files.length).toBeGreaterThan(500);
  expect(upward.map(inWords)).toEqual([]);
});

it.for(nevers)('$from never imports from $to, except for a list that may only shrink', ({ from, to, today }) => {
  const isIn = (folders: readonly string[], file: string) => folders.some((folder) => file.startsWith(`${folder}/`));
  const found = imports.filter((one) => isIn(from, one.from) && isIn(to, one.to));
  expect(found.map(inWords)).toEqual(today);
});

it('the code that a relay runs imports only one file of the code that acts as a person', () => {
  const acts = (file: string) => actingAsPerson.some((path) => `${file}/`.startsWith(`${path}/`));
  const found = imports.filter(({ from, to }) => /^(lib|functions|infra)\//.test(from) && !acts(from) && acts(to));
  expect([...new Set(found.map(({ to }) => to))]).toEqual(['lib/as-person/index.ts']);
});

it('no automation imports from another, except for a list that may only shrink', () => {
  const nameOf = (file: string) => /^lib\/automations\/([^/]+)\//.exec(file)?.[1];
  const found = imports.filter(({ from, to }) => {
    const [importing, imported] = [nameOf(from), nameOf(to)];
    return importing !== undefined && imported !== undefined && imported !== importing && imported !== 'custom';
  });
  expect(found.map(inWords)).toEqual(acrossAutomations);
});

it('only the list of automations imports the code that a worker runs, so that intake never loads it', () => {
  const importing = globSync('{lib,functions,console,local,cli,infra}/**/*.{ts,tsx}').filter((file) =>
    /from '(?:[^']*\/automations)?[./]*\/[a-z-]+\/run\.ts'/.test(readFileSync(file, 'utf8')),
  );
  expect(importing).toEqual(['lib/automations/automations.ts']);
});
