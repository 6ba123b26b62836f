import { existsSync, type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';

/** Editors write a file in several steps, so wait until the file has settled. */
const SETTLED_MS = 200;

/**
 * Watches folders rather than files, because an editor may replace a file.
 *
 * @param takes whether a changed path matters
 * @param check is called after the files have settled, and never twice at once
 */
export function watchFolders(
  takes: (path: string) => boolean,
  check: () => Promise<void>,
  failed: (why: Error) => void,
) {
  const watchers = new Map<string, FSWatcher>();
  let soon: NodeJS.Timeout | undefined;
  let checked = Promise.resolve();
  const close = (folder: string) => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };
  const opened = (folder: string) => {
    const watcher = watch(folder, (_, name) => {
      if (name === null || !takes(join(folder, name))) return;
      clearTimeout(soon);
      soon = setTimeout(() => {
        checked = checked.then(check);
      }, SETTLED_MS);
    });
    return watcher.unref().on('error', failed);
  };

  return {
    /** Watches a folder while it exists. */
    add(folder: string): void {
      if (!existsSync(folder)) close(folder);
      else if (!watchers.has(folder)) watchers.set(folder, opened(folder));
    },
    close(): void {
      clearTimeout(soon);
      for (const folder of [...watchers.keys()]) close(folder);
    },
  };
}
