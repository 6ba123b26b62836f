import { readCustomAutomations } from '../lib/automations/custom/folder.ts';
import { loadConfig } from '../lib/config/config-file.ts';
import { CustomFilesError } from './bundle/custom-build.ts';
import type { RelayStackProps } from './relay-stack.ts';
import { readStage } from './stage.ts';

export { RelayStack } from './relay-stack.ts';

/**
 * Returns the properties of a stage from relay.config.ts and automations/. In a team's CDK app:
 * `new RelayStack(app, 'partner-relay-prod', await relayOf('prod'))`
 *
 * @throws {Error} with all faults in these files
 */
export async function relayOf(stage: string | undefined): Promise<RelayStackProps> {
  const config = await loadConfig();
  const own = await readCustomAutomations(config);
  if (own.faults.length > 0) throw new CustomFilesError(own.faults.join('\n'));
  return { config, own, stage: readStage(stage, config) };
}
