import { readCustomAutomations } from '../lib/automations/custom/folder.ts';
import { loadConfig } from '../lib/config/config-file.ts';
import { CustomFilesError } from './bundle/custom-build.ts';
import type { RelayStackProps } from './relay-stack.ts';
import { readStage } from './stage.ts';

export { RelayStack } from './relay-stack.ts';

/**
 * What relay.config.ts and automations/ make of a stage. In a CDK app of a team:
 * `new RelayStack(app, 'partner-relay-prod', await relayOf('prod'))`
 *
 * @throws {Error} with everything that is wrong in these files
 */
export async function relayOf(stage: string | undefined): Promise<RelayStackProps> {
  const config = await loadConfig();
  const own = await readCustomAutomations(config);
  if (own.faults.length > 0) throw new CustomFilesError(own.faults.join('\n'));
  return { config, own, stage: readStage(stage, config) };
}
