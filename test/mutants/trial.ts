import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Mutant, withMistake } from './mutations.ts';
import { failureOf, HUNG } from './scratch-copy.ts';

/** How many test files run together: the quickest few alone, so that most mistakes cost seconds. */
const BATCHES = [3, 12, 48, 1000];

/** Tries mistakes, one after the other, in a copy of the repository. */
export function createTrial(scratch: string, workers: string) {
  /** Test files, and whether they pass without a mistake. One that does not notices nothing. */
  const passing = new Map<string, boolean>();

  /** Runs something while the file holds the mistake. */
  async function during<T>(mutant: Mutant, run: () => Promise<T>): Promise<T> {
    const file = join(scratch, mutant.path);
    const source = readFileSync(file, 'utf8');
    writeFileSync(file, withMistake(source, mutant));
    try {
      return await run();
    } finally {
      writeFileSync(file, source);
    }
  }

  async function failureOfTests(tests: readonly string[], isPage: boolean): Promise<string | undefined> {
    const config = isPage ? 'vitest.web.config.ts' : 'vitest.config.ts';
    const options = ['--bail=1', `--maxWorkers=${workers}`, `--config=${config}`];
    return failureOf(scratch, 'vitest', 'run', ...tests, ...options);
  }

  /** The first of the tests that fails, in words; undefined if none does. */
  async function noticedBy(mutant: Mutant, tests: readonly string[]): Promise<string | undefined> {
    const isPage = mutant.path.startsWith('console/web/');
    let from = 0;
    for (const size of BATCHES) {
      let batch = tests.slice(from, from + size);
      from += size;
      while (batch.length > 0) {
        const printed = await during(mutant, () => failureOfTests(batch, isPage));
        if (printed === undefined) break;
        const [, words = '', file] = /^ FAIL {2}((\S+\.test\.ts).*)$/m.exec(printed) ?? [];
        if (!file && printed.endsWith(HUNG)) return 'a test that never ends';
        if (!file && printed.includes('Unhandled')) return 'an error that no test awaits';
        if (!file) throw new Error(`The tests could not run:\n${printed}`);
        if (!passing.has(file)) passing.set(file, (await failureOfTests([file], isPage)) === undefined);
        if (passing.get(file)) return words;
        batch = batch.filter((test) => test !== file);
      }
    }
    return undefined;
  }

  /** Whether the types or the linter refuse the mistake, so that nobody would commit it. */
  function isRefused(mutant: Mutant): Promise<boolean> {
    return during(mutant, async () => {
      const project = mutant.path.startsWith('console/web/') ? 'console/web' : '.';
      const refused =
        (await failureOf(scratch, 'biome', 'lint', '--error-on-warnings', '--vcs-enabled=false', mutant.path)) ??
        (await failureOf(scratch, 'tsc', '--project', project, '--incremental'));
      return refused !== undefined;
    });
  }

  /** The test files that fail without a mistake. */
  const unfit = () => [...passing].filter(([, passes]) => !passes).map(([test]) => test);
  return { isRefused, noticedBy, unfit };
}
