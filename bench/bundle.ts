import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { forLambda, functionBuild } from '../infra/bundle/function-build.ts';
import type { RelayConfig } from '../lib/config/schema.ts';
import ownConfig from '../relay.config.ts';
import { loadedAtStart } from '../test/infra/loaded-at-start.ts';

/**
 * Peers and their dependencies are CommonJS and require Node's modules at run time. An ESM bundle has no `require`,
 * so this adds one. Nothing has to be left out of the bundle.
 */
const requireForCommonJs = {
  js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
};

/** A bundle with all dependencies. */
export interface Bundle {
  /** The file to import. */
  path: string;
  /** Of what it loads when it starts. */
  bytes: number;
  /** How many of them come from these npm packages. */
  bytesFrom(packages: readonly string[]): number;
}

export interface FunctionOptions {
  /** Default: relay.config.ts. */
  config?: RelayConfig;
  /** The modules to leave out, by their paths. */
  without?: RegExp;
}

/** Bundles `functions/<slug>.ts` as it is deployed, with the configuration inside. */
export function bundleFunction(slug: string, folder: string, options: FunctionOptions = {}): Promise<Bundle> {
  const { config = ownConfig, without } = options;
  const configFile = join(folder, 'relay.config.json');
  writeFileSync(configFile, JSON.stringify(config));
  const own = join(folder, without ? `${slug}-without` : slug);
  return bundled({ ...functionBuild(slug, own, config, configFile), ...(without && { plugins: [leaveOut(without)] }) });
}

/** Replaces modules by ones that export the same names and do nothing. */
function leaveOut(filter: RegExp): Plugin {
  return {
    name: 'leave out',
    setup({ onLoad }) {
      onLoad({ filter }, async ({ path }) => {
        const { metafile } = await build({ entryPoints: [path], format: 'esm', write: false, metafile: true });
        const names = Object.values(metafile.outputs).flatMap(({ exports }) => exports);
        return { contents: names.map((name) => `export function ${name}() { return {}; }`).join('\n') };
      });
    },
  };
}

/** Bundles `peers/<slug>.ts` in the same way. */
export function bundlePeer(slug: string, folder: string): Promise<Bundle> {
  return bundle(`peers/${slug}.ts`, folder, { banner: requireForCommonJs });
}

/**
 * @param entry relative to this folder
 * @param folder gets a folder with the bundle
 */
export function bundle(entry: string, folder: string, more: BuildOptions = {}): Promise<Bundle> {
  const entryPoint = fileURLToPath(new URL(entry, import.meta.url));
  return bundled({
    ...{ ...forLambda, ...more, write: false },
    entryPoints: { index: entryPoint },
    outdir: join(folder, basename(entry, '.ts')),
    outExtension: { '.js': '.mjs' },
  });
}

async function bundled(options: BuildOptions & { outdir: string; write: false }): Promise<Bundle> {
  const { outputFiles, metafile } = await build({ ...options, metafile: true });
  mkdirSync(options.outdir, { recursive: true });
  // esbuild does not write the files, because its process may outlive this one and write into a removed folder.
  for (const { path, contents } of outputFiles) writeFileSync(path, contents);
  const path = join(options.outdir, 'index.mjs');
  const atStart = loadedAtStart(path, metafile);
  return {
    path,
    bytes: atStart.reduce((sum, { bytes }) => sum + bytes, 0),
    bytesFrom: (packages) =>
      atStart
        .flatMap(({ inputs }) => Object.entries(inputs))
        .filter(([input]) => packages.some((name) => input.includes(`node_modules/${name}/`)))
        .reduce((sum, [, { bytesInOutput }]) => sum + bytesInOutput, 0),
  };
}
