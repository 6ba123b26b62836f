import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** By the path of a file: what imports it, or names it in a text as a command that starts a process does. */
export type Importers = ReadonlyMap<string, ReadonlySet<string>>;

const PATHS_IN_TEXTS = /((?:import|export) type [^;]*?from )?['"`]([^'"`\s]*\.tsx?|#[\w.]+)['"`]/g;

/** Reads who imports whom. Types do not count: they are gone before anything runs. */
export function readImporters(root: string): Importers {
  const files = globSync('{*,*/**/*}.{ts,tsx}', { cwd: root, exclude: ['**/node_modules/**', 'cdk.out/**'] });
  const { imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const importers = new Map<string, Set<string>>(files.map((file) => [file, new Set()]));
  for (const file of files) {
    for (const [, isType, path = ''] of readFileSync(join(root, file), 'utf8').matchAll(PATHS_IN_TEXTS)) {
      if (isType) continue;
      const named: string = imports[path] ?? path;
      for (const target of [join(dirname(file), named), join(named)]) {
        for (const match of matching(target, files)) importers.get(match)?.add(file);
      }
    }
  }
  return importers;
}

/** The files that a path means: `functions/${slug}.ts` is each of the functions. */
function matching(path: string, files: readonly string[]): readonly string[] {
  const [start = '', end] = path.split(/\$\{.*\}/);
  return end === undefined ? [path] : files.filter((file) => file.startsWith(start) && file.endsWith(end));
}

/**
 * The test files that a mistake in the file can fail: those of `npm test`, or of `npm run test:web` for the console's
 * pages, which no test imports. The likeliest are first: by the words that their paths share, then by the imports in between.
 */
export function testsOf(path: string, importers: Importers): readonly string[] {
  const hops = new Map([[path, 0]]);
  for (const [file, count] of hops) {
    for (const importer of importers.get(file) ?? []) if (!hops.has(importer)) hops.set(importer, count + 1);
  }
  const isPage = path.startsWith('console/web/');
  const words = wordsOf(path);
  function unlikely(test: string): number {
    const others = wordsOf(test);
    return (hops.get(test) ?? 0) - 10 * words.filter((word) => others.includes(word)).length;
  }
  return [...importers.keys()]
    .filter((file) => file.endsWith('.test.ts') && !/^test\/(aws|long)\//.test(file))
    .filter((file) => (isPage ? file.startsWith('test/web/') : !file.startsWith('test/web/') && hops.has(file)))
    .sort((a, b) => unlikely(a) - unlikely(b));
}

/** `lib/links/link-life.ts` has links, link and life. */
const wordsOf = (path: string) => path.replace(/^\w+\/|(\.test)?\.tsx?$/g, '').split(/[/-]/);
