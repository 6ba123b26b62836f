import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import type { Walk } from './instrument.ts';

/** Limits for one event, from the webhook to the end of its job. They may only shrink. */
const BUDGETS: Record<string, { requests: number; functions: number; changesOfFolder: number }> = {
  'issue opened': { requests: 24, functions: 479, changesOfFolder: 406 },
  'issue edited': { requests: 19, functions: 455, changesOfFolder: 365 },
  '/pm log': { requests: 35, functions: 589, changesOfFolder: 568 },
};

let walked: { walks: Record<string, Walk>; outcomes: string[] };
beforeAll(async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'start.ts')]);
  walked = JSON.parse(stdout);
});

it('the walks belong to events that reach the service', () => {
  const kinds = walked.outcomes.map((outcome) => outcome.split(' ').slice(0, 2).join(' '));
  expect(kinds.sort()).toEqual([
    ...Array(2).fill('created defect'),
    'logged 1h',
    'logged 1h',
    ...Array(2).fill('updated defect'),
  ]);
});

it.each(Object.entries(BUDGETS))(
  '%s makes few requests to the table, and enters few functions and folders',
  (event, budget) => {
    const { requests = [], functions, changesOfFolder } = walked.walks[event] ?? {};
    expect(requests.length, requests.join('\n')).toBeLessThanOrEqual(budget.requests);
    expect(functions).toBeLessThanOrEqual(budget.functions);
    expect(changesOfFolder).toBeLessThanOrEqual(budget.changesOfFolder);
  },
);

it('/pm log takes the path in the documentation', async () => {
  const { files = [] } = walked.walks['/pm log'] ?? {};
  const docs = join(import.meta.dirname, '../../docs');
  await expect(`${files.join('\n')}\n`).toMatchFileSnapshot(join(docs, 'api/pm-log.txt'));
  const rows = readFileSync(join(docs, 'architecture.md'), 'utf8').matchAll(/^\| \d+ \| `([^`]+)` \|/gm);
  const named = [...rows].map(([, file = '']) => file);
  expect(named.length).toBeGreaterThan(20);
  // Only an outcome other than success is looked up there.
  expect(named.filter((file) => !files.includes(file))).toEqual(['lib/decide.ts']);
});
