import { resolve } from 'node:path';
import { type ReadFolder, readOwnAutomations } from '../lib/automations/own/folder.ts';
import type { RelayConfig } from '../lib/config/schema.ts';

/** Reads automations/ as a deployment does, which also refuses an `on` that loads more than a webhook may. */
export async function readOwnFolder(config: RelayConfig): Promise<ReadFolder> {
  const read = await readOwnAutomations(config);
  if (read.files.length === 0) return read;
  const { withoutHeavy } = await import('../infra/bundle/own-build.ts');
  return withoutHeavy(read, resolve(import.meta.dirname, '../node_modules/.cache/own-files'));
}
