import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newFolder } from '../new-folder.ts';

/** Everything that teams build on. */
const TEXTS = ['docs/api/exports.txt', 'docs/api/help.txt', 'docs/api/steps.txt', 'docs/configuration.md'];

/** The texts that changed since the last version, if CHANGELOG.md has nothing new. Empty before the first version. */
function unexplained(folder: string): string[] {
  const git = (...words: string[]) => spawnSync('git', words, { cwd: folder, encoding: 'utf8' }).stdout.trim();
  const tag = git('describe', '--tags', '--abbrev=0', '--match', 'v*');
  if (tag === '') return [];
  const changed = git('diff', '--name-only', tag, '--', ...TEXTS);
  const isExplained = /^\+(?!\+\+)./m.test(git('diff', tag, '--', 'CHANGELOG.md'));
  return isExplained || changed === '' ? [] : changed.split('\n');
}

it('a change of the public interface since the last version has a line in CHANGELOG.md', () => {
  expect(unexplained(join(import.meta.dirname, '../..'))).toEqual([]);
});

it.each([
  { released: false, changes: ['docs/api/help.txt'], faults: [] },
  { released: true, changes: ['docs/stuck.md'], faults: [] },
  { released: true, changes: ['docs/api/help.txt'], faults: ['docs/api/help.txt'] },
  { released: true, changes: ['docs/api/help.txt', 'CHANGELOG.md'], faults: [] },
])('$changes, after a release: $released', ({ released, changes, faults }) => {
  const folder = newFolder();
  const git = (...words: string[]) =>
    spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { cwd: folder });
  mkdirSync(join(folder, 'docs/api'), { recursive: true });
  for (const file of [...TEXTS, 'docs/stuck.md', 'CHANGELOG.md']) writeFileSync(join(folder, file), 'before\n');
  git('init');
  git('add', '.');
  git('commit', '--message', 'first');
  if (released) git('tag', 'v0.1.0');
  for (const file of changes) appendFileSync(join(folder, file), 'after\n');
  expect(unexplained(folder)).toEqual(faults);
});
