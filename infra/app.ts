import { readOwnAutomations } from '../lib/automations/own/folder.ts';
import { loadConfig } from '../lib/config/config-file.ts';
import { OwnFilesError } from './bundle/own-build.ts';
import { runCdkApp } from './cdk-app.ts';
import { RelayStack } from './relay-stack.ts';
import { readStage } from './stage.ts';

await runCdkApp(async (app, context) => {
  const config = await loadConfig();
  const own = await readOwnAutomations(config);
  if (own.faults.length > 0) throw new OwnFilesError(own.faults.join('\n'));
  const stage = readStage(context('stage'), config);
  // The stack has no fixed region or account, so the same code deploys to any.
  new RelayStack(app, `partner-relay-${stage.name}`, { config, own, stage });
});
