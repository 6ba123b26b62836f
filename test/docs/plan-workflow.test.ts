import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newFolder } from '../new-folder.ts';

/** The line of the workflow that writes the summary of the check. */
const [summarize = ''] = /^.*> summary\.md$/m.exec(readFileSync('.github/workflows/plan.yml', 'utf8')) ?? [];

it.each([
  ['short', 'Plan: 1 job\n'],
  ['of 74 KB', '![a](https://img.example.com/1.png) # no heading\n'.repeat(1_500)],
  ['of one long line', '![a](https://img.example.com/1.png)'.repeat(5_000)],
  ['with carriage returns', 'a\r# no heading\r\n'.repeat(5_000)],
  ['of empty lines', '\n'.repeat(70_000)],
])('nothing in the summary of a plan is markup, however long it is: %s', (_, output) => {
  const cwd = newFolder();
  writeFileSync(join(cwd, 'output.txt'), `${output}total`);
  execFileSync('bash', ['-euo', 'pipefail', '-c', summarize], { cwd });
  const summary = readFileSync(join(cwd, 'summary.md'), 'utf8');
  expect(summary).toMatch(/total\n?$/);
  expect(summary.length).toBeLessThan(65_535);
  expect(summary.split('\n').filter((line) => line !== '' && !line.startsWith('    '))).toEqual([]);
});
