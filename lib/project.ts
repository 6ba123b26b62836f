import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Returns the team's folder: the nearest one with relay.config.ts, from here upwards, or else the current folder. */
export function projectFolder(from = process.cwd()): string {
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'relay.config.ts'))) return folder;
    if (folder === dirname(folder)) return from;
  }
}

/** The extension of this version's files: `.ts` in its repository, `.js` in the package. */
export const SOURCE = import.meta.filename.slice(-3);
