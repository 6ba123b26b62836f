import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import root from '../package.json' with { type: 'json' };

const HERE = import.meta.dirname;

/** The files with the declarations of the package's four entries. */
export const entries = Object.entries(root.exports).flatMap(([entry, file]) =>
  file.endsWith('.ts') ? [{ entry: join(root.name, entry), file: normalize(file.replace(/\.ts$/, '.d.ts')) }] : [],
);

/** Runs the compiler with a project file of this folder. */
export async function compile(project: string, outDir: string): Promise<void> {
  const tsc = join(HERE, '../node_modules/typescript/bin/tsc');
  const words = [tsc, '--project', join(HERE, project), '--outDir', outDir];
  const [code] = await once(spawn(process.execPath, words, { stdio: 'inherit' }), 'exit');
  if (code !== 0) throw new Error(`${project}: the compiler ended with ${code}`);
}

/** Writes the declarations that the entries reach. */
export async function declare(outDir: string): Promise<void> {
  await compile('tsconfig.types.json', outDir);
  const needed = new Set<string>();
  for (const { file } of entries) reach(file);
  for (const file of globSync('**/*.d.ts', { cwd: outDir })) if (!needed.has(file)) rmSync(join(outDir, file));

  function reach(file: string): void {
    if (needed.has(file)) return;
    needed.add(file);
    // TypeScript keeps the extension `.ts` of imports in declarations.
    const text = readFileSync(join(outDir, file), 'utf8').replaceAll(IMPORTED, '$1.js');
    writeFileSync(join(outDir, file), text);
    for (const [, path = ''] of text.matchAll(/['"](\.[^'"]*)\.js['"]/g)) reach(join(dirname(file), `${path}.d.ts`));
  }
}

const IMPORTED = /((?:from |import |import\()['"]\.[^'"]*)\.ts(?=['"])/g;
