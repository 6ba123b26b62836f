import { loadConfig } from '../lib/config/config-file.ts';
import { runCdkApp } from './cdk-app.ts';
import { RelayStack } from './relay-stack.ts';
import { readStage } from './stage.ts';

await runCdkApp(async (app, context) => {
  const config = await loadConfig();
  const stage = readStage(context('stage'), config);
  // The stack has no fixed region or account, so the same code deploys to any.
  new RelayStack(app, `partner-relay-${stage.name}`, { config, stage });
});
