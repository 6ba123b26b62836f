import { randomBytes } from 'node:crypto';
import { DamagedFile, readOwnFile, writeOwnFile } from './own-file.ts';

const BYTES = 32;
const KEY = /^[\w-]{32,}$/;

/**
 * Returns a random key that is generated once and kept. After a restart, its users still know it, and data that it
 * sealed stays readable.
 *
 * @param todo what it means to remove a damaged file
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
