import { join } from 'node:path';
import { type ReadFolder, readCustomAutomations } from '../lib/automations/custom/folder.ts';
import type { RelayConfig } from '../lib/config/schema.ts';
import { projectFolder } from '../lib/project.ts';

/** Reads automations/ as a deployment does. A file is faulty, too, if its `on` loads more than a webhook may. */
export async function readCustomFolder(config: RelayConfig, folder?: string): Promise<ReadFolder> {
  const read = await readCustomAutomations(config, folder);
  if (read.files.length === 0) return read;
  const { withoutHeavy } = await import('../infra/bundle/custom-build.ts');
  return withoutHeavy(read, join(projectFolder(), 'node_modules/.cache/partner-relay'));
}

/** Warns of code that a job cannot repeat, or does not wait for. */
export async function printWarnings({ files }: Pick<ReadFolder, 'files'>, print = console.log): Promise<void> {
  if (files.length === 0) return;
  // The JavaScript parser takes a moment to load.
  const { warningsIn } = await import('../lib/automations/custom/warnings.ts');
  for (const warning of warningsIn(files)) print(`! ${warning}`);
}
