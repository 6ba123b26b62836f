import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { RelayConfig } from '../lib/config/schema.ts';
import type { LoadedConfig } from './config-files.ts';

/** An editor writes a file in several steps. */
const SETTLED_MS = 200;

/**
 * Checks the configuration whenever one of its files changes, and tells what is wrong with it, or that a restart takes
 * it over. The relay does not take it over itself: routes, schedules and the sandbox depend on it.
 *
 * @param running the configuration that the relay runs with
 * @param tell hears one message for each change
 */
export function watchConfig(
  running: RelayConfig,
  files: readonly string[],
  tell: (message: string) => void,
): () => void {
  const watchers = new Map<string, FSWatcher>();
  let watched = new Set(files);
  let soon: NodeJS.Timeout | undefined;
  let last = '';

  const check = async () => {
    const loaded = await loadAgain();
    watched = new Set([...watched, ...loaded.files]);
    watchFolders();
    const message = judge(running, loaded);
    if (message !== last) tell(message);
    last = message;
  };
  const watchFolders = () => {
    for (const folder of new Set([...watched].map(dirname))) {
      if (watchers.has(folder)) continue;
      // The folder, because an editor may replace the file.
      const watcher = watch(folder, (_, name) => {
        if (![...watched].some((file) => dirname(file) === folder && basename(file) === name)) return;
        clearTimeout(soon);
        soon = setTimeout(check, SETTLED_MS);
      });
      watchers.set(folder, watcher.unref());
      watcher.on('error', (error) => tell(`changes of the configuration are not noticed: ${error.message}`));
    }
  };

  watchFolders();
  return () => {
    clearTimeout(soon);
    for (const watcher of watchers.values()) watcher.close();
  };
}

function judge(running: RelayConfig, { config, fault }: LoadedConfig): string {
  if (fault !== undefined)
    return `the changed configuration cannot be used; the relay goes on with the earlier one. ${fault}`;
  if (isDeepStrictEqual(config, running)) return 'the configuration has the settings that the relay runs with';
  return 'the configuration has changed, and is good; restart the relay to use it';
}

function loadAgain(): Promise<LoadedConfig> {
  return new Promise((resolve) => {
    const worker = new Worker(new URL('config-check.ts', import.meta.url));
    worker.once('message', resolve);
    worker.once('error', (error) => resolve({ fault: String(error), files: [] }));
    // After a message this changes nothing.
    worker.once('exit', () => resolve({ fault: 'it ends the process that loads it', files: [] }));
  });
}
