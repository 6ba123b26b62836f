import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type BuildOptions, buildSync } from 'esbuild';
import { SOURCE } from '../../lib/project.ts';

const here = import.meta.dirname;
const FUNCTIONS = join(here, '../../functions');

/** Otherwise, esbuild would use the folder that was current when it was loaded, and which may be gone. */
export const inRoot = { absWorkingDir: join(here, '../..') } as const satisfies BuildOptions;

/** Bundles for Lambda's Node. They include the AWS SDK, because the runtime has another version. */
export const forLambda = {
  ...inRoot,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  mainFields: ['module', 'main'],
  minify: true,
  logLevel: 'error',
} as const satisfies BuildOptions;

/** The globals that CommonJS packages need and an ES module lacks. Only a worker has such packages. */
export const withRequire = {
  banner: {
    js: "const require=process.getBuiltinModule('node:module').createRequire(import.meta.url),{filename:__filename,dirname:__dirname}=import.meta;",
  },
} as const satisfies BuildOptions;

/** The modules that synth writes beside a function: custom-build.ts. */
export const [CONFIG_MODULE, CUSTOM_MODULE] = ['relay.config.mjs', 'automations.mjs'];

const entryOf = (slug: string) => `
import { createHandler } from './${slug}${SOURCE}';
import { systemRuntime } from '../lib/runtime${SOURCE}';
import config from './${CONFIG_MODULE}';
import own from './${CUSTOM_MODULE}';
export const handler = createHandler(systemRuntime(config, process.env, own));
`;

/**
 * The options with which esbuild builds a function: `index.mjs` has the code that loads at the start, and chunks beside
 * it load on demand. The configuration and a team's automations are separate, so all teams run the same bytes.
 *
 * @param folder gets the files
 */
export function functionBuild(slug: string, folder: string) {
  return {
    ...forLambda,
    ...(slug === 'job-worker' && withRequire),
    stdin: { contents: entryOf(slug), resolveDir: FUNCTIONS, sourcefile: `${slug}.mjs` },
    entryNames: 'index',
    external: [`./${CONFIG_MODULE}`, `./${CUSTOM_MODULE}`],
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    splitting: true,
    write: false,
    alias: {
      '@aws-sdk/credential-provider-node': inPlaceOf('lambda-credentials'),
      '@aws-sdk/endpoint-cache': inPlaceOf('no-endpoint-cache'),
      '@smithy/core/checksum': inPlaceOf('checksum'),
      '@smithy/core/event-streams': inPlaceOf('nothing'),
      // Importing one of Node's modules loads further modules for its properties, such as another HTTP client and
      // inspectors. These replacements take only the properties that are used.
      'node:fs': inPlaceOf('node-fs'),
      'node:fs/promises': inPlaceOf('node-fs-promises'),
      'node:http': inPlaceOf('node-http'),
      'node:https': inPlaceOf('node-https'),
      'node:process': inPlaceOf('node-process'),
      'node:util': inPlaceOf('node-util'),
    },
    // The SDK asks whether a body is a ReadableStream, which loads web streams. Bodies of node:https never are.
    define: { ReadableStream: 'undefined' },
    // The SDK's clients import their package.json to send their version, which no function needs.
    loader: { '.json': 'empty' },
  } as const satisfies BuildOptions;
}

const inPlaceOf = (name: string) => join(here, `${name}${SOURCE}`);

/**
 * Builds `functions/<slug>`. Source maps would double its size, so they are kept outside: docs/deploy.md reads stack
 * traces with them.
 *
 * @param folder gets the files
 * @param sourceMaps gets the source maps
 */
export function buildFunction(slug: string, folder: string, sourceMaps: string): void {
  for (const one of [folder, sourceMaps]) {
    rmSync(one, { recursive: true, force: true });
    mkdirSync(one, { recursive: true });
  }
  // The file names contain a digest of paths, which are then the same on every machine.
  const options = { ...functionBuild(slug, join(FUNCTIONS, slug)), absWorkingDir: FUNCTIONS };
  const { outputFiles } = buildSync({ ...options, sourcemap: 'external' });
  for (const { path, contents } of outputFiles) {
    writeFileSync(join(path.endsWith('.map') ? sourceMaps : folder, basename(path)), contents);
  }
}

/** The folders that this process has already built. */
const built = new Set<string>();

/**
 * Returns the files of a function. A release contains them; in the repository, they are built here, in the same way.
 *
 * @param outdir of the app
 * @returns their folder
 */
export function builtFunction(slug: string, outdir: string): string {
  const released = join(FUNCTIONS, slug);
  if (existsSync(released)) return released;
  const folder = join(outdir, 'functions', slug);
  if (!built.has(folder)) buildFunction(slug, folder, join(outdir, 'source-maps', slug));
  built.add(folder);
  return folder;
}
