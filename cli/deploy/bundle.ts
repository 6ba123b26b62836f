import { join, resolve } from 'node:path';
import { buildSync } from 'esbuild';
import { forLambda } from '../../infra/bundle/function-build.ts';
import { SOURCE } from '../../lib/project.ts';

/** Builds deploy.mjs, which runs where no package is installed. A release contains it. */
export function bundleDeploy(outfile: string): void {
  buildSync({
    // deploy.mjs needs the same Node as the functions.
    ...forLambda,
    entryPoints: [join(import.meta.dirname, `main${SOURCE}`)],
    outfile: resolve(outfile),
  });
}
