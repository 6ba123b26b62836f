import { join, resolve } from 'node:path';
import { buildSync } from 'esbuild';
import { SOURCE } from '../../lib/project.ts';

/** Builds deploy.mjs, the program that runs where no package is installed. A release brings it built. */
export function bundleDeploy(outfile: string): void {
  buildSync({
    entryPoints: [join(import.meta.dirname, `main${SOURCE}`)],
    outfile: resolve(outfile),
    absWorkingDir: import.meta.dirname,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    mainFields: ['module', 'main'],
    minify: true,
    logLevel: 'error',
  });
}
