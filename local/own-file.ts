import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type * as z from 'zod/mini';
import { faultLine, readInput } from '../lib/faults/fault.ts';
import { parsedJson } from '../lib/text.ts';

/** A file in `.relay/` that cannot be used. The message names the file, and says what to do. */
export class DamagedFile extends Error {
  override readonly name = 'DamagedFile';

  constructor(file: string, fault: string, todo: string) {
    super(`${file} is damaged: ${fault}; ${todo}`);
  }
}

/** Writes a file that only its owner can read. If the process is killed, the old file remains. */
export function writeOwnFile(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  // The mode above applies only to a new file.
  chmodSync(`${file}.new`, 0o600);
  renameSync(`${file}.new`, file);
}

/**
 * Reads such a file. If others can read it, too, because a person wrote it, it becomes readable by its owner only.
 *
 * @returns undefined if there is no such file
 */
export function readOwnFile(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  if (statSync(file).mode & 0o077) chmodSync(file, 0o600);
  return readFileSync(file, 'utf8');
}

/**
 * Reads such a file as JSON. It may hold secrets, so an error about a damaged file contains no values.
 *
 * @param todo what to do about a damaged file
 * @returns undefined if there is no such file, or nothing in it
 * @throws {DamagedFile}
 */
export function readOwnJson<T>(file: string, shape: z.ZodMiniType<T>, todo: string): T | undefined {
  const text = readOwnFile(file);
  if (!text) return undefined;
  const json = parsedJson(text);
  if (json === undefined) throw new DamagedFile(file, 'it is not JSON', todo);
  const read = readInput(shape, json, { showValues: false });
  if (read.ok) return read.value;
  throw new DamagedFile(file, read.faults.map(faultLine).join('; '), todo);
}
