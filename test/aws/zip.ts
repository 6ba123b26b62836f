import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Scratch } from './scratch.ts';

/** A file as a zip archive, in which Lambda takes code. */
export async function zipped({ folder, run }: Scratch, name: string, text: string): Promise<Uint8Array> {
  const archive = join(folder, `${name}.zip`);
  await writeFile(join(folder, name), text);
  await run('python3', ['-m', 'zipfile', '-c', archive, name], { cwd: folder });
  return readFile(archive);
}
