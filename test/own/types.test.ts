import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
/** Relative to the folder of the compiled file. */
const LIB = '../../../lib';
const MISTAKES: [string, string][] = [
  [`steps.create('a', 'defects/creat', { title })`, `parameter of type '"defects/create"'`],
  [`steps.create('a', 'tasks/list', { project_id })`, `'"tasks/list is called with list()"'`],
  [`steps.create('a', 'projects/create', { nam: title })`, `Did you mean to write 'name'?`],
  [`steps.call('a', 'defects/create', { title })`, `'"defects/create is called with create()"'`],
  [`steps.call('a', 'task/lst', {})`, `'"there is no operation 'task/lst'"'`],
  [`steps.list('a', 'tasks/lst', {}, () => 1)`, `'"tasks/list" | "tasks/search"'`],
  [`steps.list('a', 'tasks/list', {}, () => 1)`, `Property 'project_id' is missing`],
  [`steps.send('a', 'tasks/create', {})`, `'"tasks/create is called with create()"'`],
  [`steps.crate('a', 'defects/create', {})`, `Did you mean 'create'?`],
];
let folder: string;
let said: string[];

beforeAll(() => {
  mkdirSync(join(root, 'node_modules/.cache'), { recursive: true });
  folder = mkdtempSync(join(root, 'node_modules/.cache/types-'));
  const lines = [
    `import type { CommandSteps } from '${LIB}/triggers/steps.ts'; declare const steps: CommandSteps, title: string, project_id: string;`,
    ...MISTAKES.map(([code]) => `await ${code};`),
    // Without the user, there is a reason.
    `const { user, why } = await steps.user('who'); export const name = user ? user.name : steps.stop(why);`,
  ];
  writeFileSync(join(folder, 'mistyped.ts'), lines.join('\n'));
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: join(root, 'tsconfig.json'), include: ['mistyped.ts'], exclude: [] }),
  );
  const tsc = [join(root, 'node_modules/typescript/bin/tsc'), '--noEmit', '-p', folder];
  const { stdout } = spawnSync(process.execPath, tsc, { encoding: 'utf8' });
  said = stdout.split('\n').filter((line) => /^\S*mistyped\.ts\(/.test(line));
});
afterAll(() => rmSync(folder, { recursive: true }));

it.each(MISTAKES)('the compiler says what is wrong with %s', (code, words) => {
  const line = MISTAKES.findIndex(([one]) => one === code) + 2;
  expect(said.find((one) => one.includes(`mistyped.ts(${line},`))).toContain(words);
});

it('the compiler accepts the rest', () => {
  expect(said).toHaveLength(MISTAKES.length);
});
