import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { type Mutant, withMistake } from './mutations.ts';
import { failureOf, HUNG } from './scratch-copy.ts';

/** The number of test files that run first, so that most mistakes take seconds. */
const NEAREST = 3;

/** The file of a fault, in the output of the types' check and the linter. */
const PLACE = /(?:^|file=)([^\s(,=]+\.tsx?)[(,]/gm;

/** Tries mistakes in a copy of the repository. */
export function createTrial(scratch: string, workers: string) {
  /** Test files, and whether they pass without a mistake. A file that fails cannot notice mistakes. */
  const passing = new Map<string, boolean>();

  /** Runs something while the files contain the mistakes, one in each. */
  async function during<T>(mutants: readonly Mutant[], run: () => Promise<T>): Promise<T> {
    const sources = mutants.map(({ path }) => readFileSync(join(scratch, path), 'utf8'));
    const write = (textOf: (mutant: Mutant, source: string) => string) => {
      for (const [index, mutant] of mutants.entries()) {
        writeFileSync(join(scratch, mutant.path), textOf(mutant, sources[index] ?? ''));
      }
    };
    write((mutant, source) => withMistake(source, mutant));
    try {
      return await run();
    } finally {
      write((_, source) => source);
    }
  }

  async function failureOfTests(tests: readonly string[], isPage: boolean): Promise<string | undefined> {
    const config = isPage ? 'vitest.web.config.ts' : 'test/mutants/every-test.config.ts';
    const options = ['--bail=1', `--maxWorkers=${workers}`, `--config=${config}`];
    return failureOf(scratch, 'vitest', 'run', ...tests, ...options);
  }

  /** The first test that fails, in words; undefined if all pass. */
  async function noticedBy(mutant: Mutant, tests: readonly string[]): Promise<string | undefined> {
    const isPage = mutant.path.startsWith('console/web/');
    for (const some of [tests.slice(0, NEAREST), tests.slice(NEAREST)]) {
      let batch = some;
      while (batch.length > 0) {
        const printed = await during([mutant], () => failureOfTests(batch, isPage));
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

  /**
   * The mistakes that the types or the linter refuse, so that they would never be committed. Both checks take seconds,
   * for any number of mistakes.
   *
   * @param mutants at most one of each file
   */
  async function refusedOf(mutants: readonly Mutant[]): Promise<readonly Mutant[]> {
    if (mutants.length === 0) return [];
    const printed = await during(mutants, () => faultsOf(mutants.map(({ path }) => path)));
    if (printed === '') return [];
    const places = [...printed.matchAll(PLACE)].map(([, file = '']) => relative(scratch, resolve(scratch, file)));
    const named = mutants.filter(({ path }) => places.includes(path));
    if (named.length > 0) return [...named, ...(await refusedOf(mutants.filter((one) => !named.includes(one))))];
    if (mutants.length === 1) return mutants;
    // The fault is in a file that uses one of the changed files.
    const users = [...new Set(places)].map((path) => readFileSync(join(scratch, path), 'utf8'));
    const isUsed = ({ path }: Mutant) => users.some((text) => text.includes(`/${basename(path)}'`));
    const used = mutants.filter(isUsed);
    const some = used.length > 0 && used.length < mutants.length ? used : mutants.slice(0, mutants.length / 2);
    return [...(await refusedOf(some)), ...(await refusedOf(mutants.filter((one) => !some.includes(one))))];
  }

  async function faultsOf(paths: readonly string[]): Promise<string> {
    const ways = ['--error-on-warnings', '--vcs-enabled=false', '--max-diagnostics=none', '--reporter=github'];
    const printed = [
      await failureOf(scratch, 'biome', 'lint', ...ways, ...paths),
      await failureOf(scratch, 'tsc', '--incremental'),
      paths.some((path) => path.startsWith('console/web/')) &&
        (await failureOf(scratch, 'tsc', '--project', 'console/web', '--incremental')),
    ];
    return printed.filter(Boolean).join('\n');
  }

  /** The test files that fail without a mistake. */
  const unfit = () => [...passing].filter(([, passes]) => !passes).map(([test]) => test);
  return { refusedOf, noticedBy, unfit };
}
