import { hash } from 'node:crypto';
import { cpSync, existsSync, globSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mutant } from './mutations.ts';
import { failureOf } from './scratch-copy.ts';

/**
 * Runs all files of `npm test` once in the copy, unless that was done with the same files before.
 *
 * @returns the test files that run the line of a mistake, the quickest first; those of `npm run test:web` for the
 *   console's pages, which run in a browser
 */
export async function whoRuns(scratch: string, workers: string): Promise<(mutant: Mutant) => readonly string[]> {
  const files = globSync('{*,*/**/*}.{ts,tsx,js,json}', { cwd: scratch, exclude: ['**/node_modules/**'] }).sort();
  const content = files.map((file) => file + readFileSync(join(scratch, file)));
  const folder = join(scratch, 'node_modules/.cache/mutants', hash('sha256', content.join()));
  if (!existsSync(folder)) {
    const records = mkdtempSync(join(scratch, '.records-'));
    // Functions from the cache are counted less exactly.
    Object.assign(process.env, { MUTANTS_RECORDS: records, NODE_DISABLE_COMPILE_CACHE: '1' });
    await failureOf(scratch, 'vitest', 'run', '--config=test/mutants/vitest.config.ts', `--maxWorkers=${workers}`);
    delete process.env.NODE_DISABLE_COMPILE_CACHE;
    cpSync(records, folder, { recursive: true });
  }
  const runs = readRecords(folder);
  const ofPages = globSync('test/web/*.test.ts', { cwd: scratch });
  return ({ path, line }) => (path.startsWith('console/web/') ? ofPages : [...(runs.get(`${path}:${line}`) ?? [])]);
}

/** The test files by the lines that they run. */
function readRecords(folder: string): ReadonlyMap<string, ReadonlySet<string>> {
  const records = readdirSync(folder).map((name) => {
    const text = readFileSync(join(folder, name), 'utf8');
    const [, ms, test = ''] = /^(\d+) .*?(test\/\S+)$/m.exec(text) ?? [];
    return { ms: Number(ms), test, lines: new Set(text.split('\n')) };
  });
  const runs = new Map<string, Set<string>>();
  for (const { test, lines } of records.sort((a, b) => a.ms - b.ms)) {
    for (const line of lines) runs.set(line, (runs.get(line) ?? new Set()).add(test));
  }
  return runs;
}
