import { join } from 'node:path';
import * as z from 'zod/mini';
import { FORM } from '../lib/state/table/form.ts';
import { versionFault, type Wrote } from '../lib/state/table/versions.ts';
import { VERSION } from '../lib/version.ts';
import { readOwnJson, writeOwnFile } from './own-file.ts';

const wrote = z.object({ version: z.string(), form: z.number() });

/**
 * Notes in a state folder which version uses it now.
 *
 * @throws {Error} if a version ran there whose items this one cannot read
 */
export function keepVersion(folder: string): void {
  const file = join(folder, 'version.json');
  const fault = versionFault(readOwnJson(file, wrote, 'remove it'), VERSION);
  if (fault !== undefined) throw new Error(`${folder}: ${fault}`);
  writeOwnFile(file, JSON.stringify({ version: VERSION, form: FORM } satisfies Wrote));
}
