import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type BuildOptions, build } from 'esbuild';
import { writeConfig, writeCustom } from '../infra/bundle/custom-build.ts';
import { functionBuild } from '../infra/bundle/function-build.ts';
import none from '../lib/triggers/custom-automation.ts';
import { loadedAtStart } from '../test/infra/loaded-at-start.ts';
import { exampleConfig } from '../test/relay.ts';

/** A function with all its dependencies. */
export interface Bundle {
  /** The URL of the file to import. */
  url: string;
  /** The size of the code that loads at the start, without the parts that load on demand. */
  kilobytes: number;
}

/**
 * Adds the `require` that an ESM bundle lacks, because peers and their dependencies are CommonJS and require Node's
 * modules at run time. So a bundle is one complete file.
 */
export const forPeer: BuildOptions = {
  alias: {},
  loader: {},
  splitting: false,
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
};

/**
 * Bundles a function as the relay's functions are deployed.
 *
 * @param entry its file, relative to this folder
 * @param folder gets a folder with the bundle
 */
export async function bundle(entry: string, folder: string, more: BuildOptions = {}): Promise<Bundle> {
  const slug = basename(entry, '.ts');
  const target = join(folder, slug);
  const { metafile } = await build({
    ...functionBuild(slug, target),
    ...(!entry.startsWith('../functions/') && {
      stdin: undefined,
      entryPoints: { index: fileURLToPath(new URL(entry, import.meta.url)) },
    }),
    ...more,
    write: true,
    metafile: true,
  });
  writeConfig(exampleConfig(), target);
  writeCustom({ custom: none, files: [] }, join(folder, 'automations'))(slug, target);
  const path = join(target, 'index.mjs');
  const bytes = loadedAtStart(path, metafile).reduce((sum, output) => sum + output.bytes, 0);
  return { url: pathToFileURL(path).href, kilobytes: bytes / 1_000 };
}
