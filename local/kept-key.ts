import { randomBytes } from 'node:crypto';
import { DamagedFile, readOwnFile, writeOwnFile } from './own-file.ts';

const BYTES = 32;
const KEY = /^[\w-]{32,}$/;

/**
 * A random key that is made once and stays the same over restarts. Its users can go on with it, and what
 * is sealed with it stays readable.
 *
 * @param todo what removing the file would mean, for a file that is damaged
 * @throws {DamagedFile}
 */
export function keptKey(file: string, todo: string): string {
  const kept = readOwnFile(file);
  if (kept !== undefined) {
    if (!KEY.test(kept)) throw new DamagedFile(file, 'expected 32 or more letters and digits', todo);
    return kept;
  }
  const made = randomBytes(BYTES).toString('base64url');
  writeOwnFile(file, made);
  return made;
}
