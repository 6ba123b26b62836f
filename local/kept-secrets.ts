import { join } from 'node:path';
import * as z from 'zod/mini';
import { faultLine, readInput } from '../lib/faults/fault.ts';
import { DamagedFile, readOwnJson, writeOwnFile } from './own-file.ts';
import { secretSchema } from './secret-schemas.ts';
import { STATE_FOLDER } from './state.ts';

/** Where `partner-relay secrets set` without a stage keeps secrets. Only the owner can read the file. */
export const secretsFile = () => join(STATE_FOLDER, 'secrets.json');

/** The secrets of this machine, by name: `partner/main`. */
export type KeptSecrets = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

const byName = z.record(z.string(), z.record(z.string(), z.unknown()));

/** @throws {DamagedFile} if the file is not JSON, or a secret has another shape; the message has no values */
export function readKeptSecrets(): KeptSecrets {
  const todo = 'correct it, or remove it and enter the secrets again: npx partner-relay secrets set <name>';
  const all = readOwnJson(secretsFile(), byName, todo) ?? {};
  return new Map(Object.entries(all).map(([name, value]) => [name, checked(name, value)]));
}

/** Adds or replaces a secret. */
export function keepSecret(name: string, value: Readonly<Record<string, unknown>>): void {
  const all = new Map(readKeptSecrets()).set(name, value);
  writeOwnFile(secretsFile(), `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
}

function checked(name: string, value: Record<string, unknown>): Record<string, unknown> {
  const read = readInput(z.strictObject(secretSchema(name).shape), value, { showValues: false });
  if (read.ok) return read.value;
  throw new DamagedFile(
    secretsFile(),
    `the secret ${name} has another shape: ${read.faults.map(faultLine).join('; ')}`,
    `enter it again: npx partner-relay secrets set ${name}`,
  );
}
