import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { RelayConfig } from '../lib/config/schema.ts';
import { SOURCE } from '../lib/project.ts';
import { counted } from '../lib/text.ts';
import type { LoadedConfig } from './config-files.ts';
import { watchFolders } from './watch-folders.ts';

/** Changes that only a start applies, because servers, routes and secrets depend on these settings. */
const READ_AT_START: Readonly<Record<string, (config: RelayConfig) => unknown>> = {
  'a connection was added, removed or renamed': ({ connections }) => Object.keys(connections),
  'connections.<name>.mcp.accounts changed': ({ connections }) =>
    Object.values(connections).map(({ mcp }) => mcp.accounts),
  'github.apiUrl changed': ({ github }) => github.apiUrl,
  'slack was added or removed, or slack.apiUrl changed': ({ slack }) => slack?.apiUrl,
  'caFile changed': ({ caFile }) => caFile,
};

export interface ConfigWatchOptions {
  /** Makes the relay use a valid configuration. */
  use: (config: RelayConfig) => Promise<void>;
  /** The faults of automations/ with that configuration. */
  customFaults: (config: RelayConfig) => Promise<readonly string[]>;
  /** Called with a sentence about each change. */
  tell: (message: string) => void;
}

/**
 * Reads the configuration again whenever one of its files changes. The relay uses it if it is valid, and if no setting
 * has changed that only a start reads.
 *
 * @param running the configuration that the relay uses now
 */
export function watchConfig(
  running: RelayConfig,
  files: readonly string[],
  { use, customFaults, tell }: ConfigWatchOptions,
): () => void {
  let watched = new Set(files);
  /** Why the relay does not use the file on disk. */
  let fault: string | undefined;

  const check = async () => {
    const loaded = await loadAgain();
    watched = new Set([...watched, ...loaded.files]);
    addFolders();
    const before = fault;
    fault = await faultOf(running, loaded, customFaults);
    if (fault !== undefined) {
      // The watcher may report one save twice.
      if (fault !== before) tell(fault);
    } else if (loaded.config && !isDeepStrictEqual(loaded.config, running)) {
      await use(loaded.config);
      running = loaded.config;
      tell('the configuration has changed; the relay uses it from now on');
    } else if (before !== undefined) {
      tell('the configuration is valid again, and none of its settings has changed');
    }
  };
  const folders = watchFolders(
    (path) => watched.has(path),
    check,
    (error) => tell(`the relay cannot watch the configuration for changes: ${error.message}`),
  );
  const addFolders = () => {
    for (const file of watched) folders.add(dirname(file));
  };

  addFolders();
  return folders.close;
}

/** Why the relay cannot use a configuration. */
async function faultOf(
  running: RelayConfig,
  { config, fault }: LoadedConfig,
  customFaults: ConfigWatchOptions['customFaults'],
): Promise<string | undefined> {
  if (!config) return `the changed configuration cannot be used; the relay continues with the previous one. ${fault}`;
  const changed = Object.entries(READ_AT_START).filter(([, read]) => !isDeepStrictEqual(read(config), read(running)));
  if (changed.length === 0) return undefined;
  const changes = changed.map(([change]) => change).join('; ');
  const faults = await customFaults(config);
  const wrong = faults.length === 0 ? '' : `. ${counted(faults.length, 'fault')} to repair first: ${faults.join('; ')}`;
  return `restart the relay to apply this change: ${changes}${wrong}`;
}

/** Loads the configuration from disk, even if this process has loaded it before. */
export function loadAgain(): Promise<LoadedConfig> {
  return new Promise((resolve) => {
    const worker = new Worker(new URL(`config-check${SOURCE}`, import.meta.url));
    worker.once('message', (loaded: LoadedConfig) => {
      resolve(loaded);
      // A timer that the configuration has started would keep the thread alive.
      void worker.terminate();
    });
    worker.once('error', (error) => resolve({ fault: String(error), files: [] }));
    // Has no effect after a message.
    worker.once('exit', () => resolve({ fault: 'it ends the process that loads it', files: [] }));
  });
}
