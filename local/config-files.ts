import { registerHooks } from 'node:module';
import { resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { configFile, loadConfig } from '../lib/config/config-file.ts';
import type { RelayConfig } from '../lib/config/schema.ts';
import { messageOf } from '../lib/text.ts';

/** A configuration or its fault, and the files that it consists of. */
export interface LoadedConfig {
  files: string[];
  config?: RelayConfig;
  fault?: string;
}

/** Loads the configuration, and lists its own files, without those of libraries and of this project. */
export async function loadConfigAndFiles(file = configFile()): Promise<LoadedConfig> {
  const files = new Set([file]);
  const hooks = registerHooks({
    load(url, context, next) {
      if (url.startsWith('file:') && isOwn(fileURLToPath(url))) files.add(fileURLToPath(url));
      return next(url, context);
    },
  });
  try {
    return { config: await loadConfig(file), files: [...files] };
  } catch (error) {
    return { fault: messageOf(error), files: [...files] };
  } finally {
    hooks.deregister();
  }
}

const LIB = resolve(import.meta.dirname, '../lib') + sep;

function isOwn(file: string): boolean {
  return !file.startsWith(LIB) && !file.includes(`${sep}node_modules${sep}`);
}
