import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of a team: that of relay.config.ts, here or above. Without one, it is the current folder. */
export function projectFolder(from = process.cwd()): string {
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'relay.config.ts'))) return folder;
    if (folder === dirname(folder)) return from;
  }
}

/** The extension of the files of this version: `.ts` in its repository, `.js` in the package. */
export const SOURCE = import.meta.filename.slice(-3);
