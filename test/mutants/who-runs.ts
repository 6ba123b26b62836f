import { hash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mutant } from './mutations.ts';
import { failureOf } from './scratch-copy.ts';
import config from './vitest.config.ts';

/** The longest time for the tests of one mistake, estimated from the recorded run. */
const MOST_MS = 120_000;

/** The test files for a mistake, nearest first. */
export interface Runners {
  tests: readonly string[];
  /**
   * The number of further test files that run the line. They would take too long, and the nearest notice most mistakes.
   */
  others: number;
}

/** The lines that a test file runs. */
interface Recorded {
  ms: number;
  test: string;
  lines: ReadonlySet<string>;
}

/**
 * Runs each file of `npm test` and `npm run test:process` once in the copy, unless its run is recorded. A record is
 * valid until the test file, or any file that is not a test, changes. An interrupted run continues at the next start.
 *
 * @returns the test files that run the line of a mistake; for the console's pages, which run in a browser, those of
 * `npm run test:web`
 */
export async function whoRuns(scratch: string, workers: string): Promise<(mutant: Mutant) => Runners> {
  const folder = join(scratch, 'node_modules/.cache/mutants', digestOf(scratch));
  mkdirSync(folder, { recursive: true });
  const { include, exclude }: { include: string[]; exclude: string[] } = config.test;
  const all = globSync(include, { cwd: scratch, exclude });
  const known = new Set(readRecords(scratch, folder).map(({ test }) => test));
  const unknown = all.filter((test) => !known.has(test));
  if (unknown.length > 0) {
    // Counts for functions from the cache are less exact.
    Object.assign(process.env, { MUTANTS_RECORDS: folder, NODE_DISABLE_COMPILE_CACHE: '1' });
    const options = ['--config=test/mutants/vitest.config.ts', `--maxWorkers=${workers}`];
    await failureOf(scratch, 'vitest', 'run', ...unknown, ...options);
    delete process.env.NODE_DISABLE_COMPILE_CACHE;
  }
  const records = readRecords(scratch, folder);
  const missing = all.filter((test) => !records.some((one) => one.test === test));
  if (missing.length > 0) throw new Error(`These did not run to their end: ${missing.join(', ')}`);
  const ofPages = globSync('test/web/*.test.ts', { cwd: scratch });
  return ({ path, line }) => {
    if (path.startsWith('console/web/')) return { tests: ofPages, others: 0 };
    const near = nearestFirst(records, path).filter(({ lines }) => lines.has(`${path}:${line}`));
    const tests: string[] = [];
    let sum = 0;
    for (const { test, ms } of near) {
      if (sum > MOST_MS) break;
      sum += ms;
      tests.push(test);
    }
    return { tests, others: near.length - tests.length };
  };
}

/**
 * Orders the test files that run at least half as many lines of a file as any other: first by the words that their
 * paths share with its path, then by the number of its lines, and then by their time.
 */
function nearestFirst(records: readonly Recorded[], path: string): readonly Recorded[] {
  const own = new Set(path.split(/\W/));
  const nearness = ({ test }: Recorded) => test.split(/\W/).filter((word) => own.has(word)).length;
  const ranked = records.map((record) => {
    const count = [...record.lines].filter((line) => line.startsWith(`${path}:`)).length;
    return { record, count, near: nearness(record) };
  });
  const most = Math.max(...ranked.map(({ count }) => count));
  const isThorough = ({ count }: { count: number }) => Number(count * 2 >= most);
  ranked.sort(
    (a, b) => isThorough(b) - isThorough(a) || b.near - a.near || b.count - a.count || a.record.ms - b.record.ms,
  );
  return ranked.map(({ record }) => record);
}

/** A digest of all files but the tests, whose records have their own digests. */
function digestOf(scratch: string): string {
  const files = globSync('{*,*/**/*}.{ts,tsx,js,json}', { cwd: scratch, exclude: ['**/node_modules/**'] });
  const content = files
    .filter((file) => !file.endsWith('.test.ts'))
    .sort()
    .map((file) => file + readFileSync(join(scratch, file)));
  return hash('sha256', content.join());
}

/** The complete records of test files as they are. */
function readRecords(scratch: string, folder: string): readonly Recorded[] {
  return readdirSync(folder).flatMap((name) => {
    const text = readFileSync(join(folder, name), 'utf8');
    const [, ms, digest, test = ''] = /^(\d+) (\w+) .*?(test\/\S+)$/m.exec(text) ?? [];
    const holds = existsSync(join(scratch, test)) && digest === hash('sha256', readFileSync(join(scratch, test)));
    return test !== '' && holds ? [{ ms: Number(ms), test, lines: new Set(text.split('\n')) }] : [];
  });
}
