import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type BuildOptions, buildSync } from 'esbuild';
import { SOURCE } from '../../lib/project.ts';

const here = import.meta.dirname;
const FUNCTIONS = join(here, '../../functions');

/** esbuild would take the folder that was current when it was loaded, which may be gone. */
export const inRoot = { absWorkingDir: join(here, '../..') } as const satisfies BuildOptions;

/** Bundles for Lambda's Node. They include the AWS SDK, because the runtime has another version of it. */
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

/** What packages that are CommonJS find, and an ES module does not have. Only a worker has such packages. */
export const withRequire = {
  banner: {
    js: "const require=process.getBuiltinModule('node:module').createRequire(import.meta.url),{filename:__filename,dirname:__dirname}=import.meta;",
  },
} as const satisfies BuildOptions;

/** What synth writes beside a function: custom-build.ts. */
export const [CONFIG_MODULE, CUSTOM_MODULE] = ['relay.config.mjs', 'automations.mjs'];

const entryOf = (slug: string) => `
import { createHandler } from './${slug}${SOURCE}';
import { systemRuntime } from '../lib/runtime${SOURCE}';
import config from './${CONFIG_MODULE}';
import own from './${CUSTOM_MODULE}';
export const handler = createHandler(systemRuntime(config, process.env, own));
`;

/**
 * How esbuild builds a function: what it loads when it starts in `index.mjs`, and what it loads on demand in chunks next
 * to it. The configuration and the automations of a team are not in it, so all teams run the same bytes.
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
      // A module of Node that is imported loads modules for each of its properties: another HTTP client, inspectors. So
      // these take the properties that are used.
      'node:fs': inPlaceOf('node-fs'),
      'node:fs/promises': inPlaceOf('node-fs-promises'),
      'node:http': inPlaceOf('node-http'),
      'node:https': inPlaceOf('node-https'),
      'node:process': inPlaceOf('node-process'),
      'node:util': inPlaceOf('node-util'),
    },
    // The SDK asks whether a body is one, which loads web streams. Those of node:https never are.
    define: { ReadableStream: 'undefined' },
    // The SDK's clients import their package.json to send their version, which no function needs.
    loader: { '.json': 'empty' },
  } as const satisfies BuildOptions;
}

const inPlaceOf = (name: string) => join(here, `${name}${SOURCE}`);

/**
 * Builds `functions/<slug>`. Source maps stay out of it, or they would be half of it: docs/deploy.md reads a stack trace
 * with them.
 *
 * @param folder gets the files
 * @param sourceMaps gets the source maps
 */
export function buildFunction(slug: string, folder: string, sourceMaps: string): void {
  for (const one of [folder, sourceMaps]) {
    rmSync(one, { recursive: true, force: true });
    mkdirSync(one, { recursive: true });
  }
  // The names of the files have a digest of paths, which are the same on every machine this way.
  const options = { ...functionBuild(slug, join(FUNCTIONS, slug)), absWorkingDir: FUNCTIONS };
  const { outputFiles } = buildSync({ ...options, sourcemap: 'external' });
  for (const { path, contents } of outputFiles) {
    writeFileSync(join(path.endsWith('.map') ? sourceMaps : folder, basename(path)), contents);
  }
}

/** The folders that this process has built. */
const built = new Set<string>();

/**
 * The files of a function as they were built at release. The repository has none, so they are built here, in the same way.
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
