import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build } from 'esbuild';
import { bundleOptions } from '../infra/bundle/options.ts';

/** What CDK makes of infra/bundle/options.ts, apart from source maps, which are not deployed. */
const asInfraDoes = { ...bundleOptions, bundle: true, platform: 'node', format: 'esm', logLevel: 'error' } as const;

/**
 * Bundles one entry point.
 *
 * @param entry relative to this folder
 * @returns the size in bytes
 */
export async function bundle(entry: string, outfile: string, more: BuildOptions = {}): Promise<number> {
  const entryPoint = fileURLToPath(new URL(entry, import.meta.url));
  const { outputFiles } = await build({ ...asInfraDoes, ...more, entryPoints: [entryPoint], write: false });
  const [file] = outputFiles;
  if (!file) throw new Error(`esbuild made nothing of ${entry}`);
  // Not by esbuild: its process may outlive this one, and would write into a folder that has been removed.
  writeFileSync(outfile, file.contents);
  return file.contents.byteLength;
}
