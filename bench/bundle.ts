import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { bundleAliases, bundleOptions } from '../infra/bundle/options.ts';
import type { RelayConfig } from '../lib/config/schema.ts';
import ownConfig from '../relay.config.ts';

/**
 * The esbuild options that the CDK derives from infra/bundle/options.ts, without source maps, which are not deployed.
 */
const asInfraDoes = { ...bundleOptions, bundle: true, platform: 'node', format: 'esm', logLevel: 'error' } as const;

/**
 * Peers and their dependencies are CommonJS and require Node's modules at run time. An ESM bundle has no `require`,
 * so this adds one. Nothing has to be left out of the bundle.
 */
const requireForCommonJs = {
  js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
};

/** One file with all dependencies. */
export interface Bundle {
  path: string;
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
  const path = join(folder, `${slug}${without ? '-without' : ''}.mjs`);
  return bundle(`../functions/${slug}.ts`, path, {
    alias: bundleAliases(configFile),
    ...(without && { plugins: [leaveOut(without)] }),
  });
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
  return bundle(`peers/${slug}.ts`, join(folder, `${slug}.mjs`), { banner: requireForCommonJs });
}

/** @param entry relative to this folder */
export async function bundle(entry: string, path: string, more: BuildOptions = {}): Promise<Bundle> {
  const entryPoint = fileURLToPath(new URL(entry, import.meta.url));
  const { outputFiles, metafile } = await build({
    ...asInfraDoes,
    ...more,
    entryPoints: [entryPoint],
    write: false,
    metafile: true,
  });
  const [file] = outputFiles;
  const [output] = Object.values(metafile.outputs);
  if (!file || !output) throw new Error(`esbuild produced no output for ${entry}`);
  // esbuild does not write the file, because its process may outlive this one and write into a removed folder.
  writeFileSync(path, file.contents);
  return {
    path,
    bytes: file.contents.byteLength,
    bytesFrom: (packages) =>
      Object.entries(output.inputs)
        .filter(([input]) => packages.some((name) => input.includes(`node_modules/${name}/`)))
        .reduce((sum, [, { bytesInOutput }]) => sum + bytesInOutput, 0),
  };
}
