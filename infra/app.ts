import { App } from 'aws-cdk-lib';
import { ConfigFileError, loadConfig } from '../lib/config/config-file.ts';
import { RelayStack } from './relay-stack.ts';
import { readStage, StageError } from './stage.ts';

try {
  const app = new App();
  const config = await loadConfig();
  const stage = readStage(app.node.tryGetContext('stage'), config);
  // The stack has no fixed region or account, so the same code deploys to any.
  new RelayStack(app, `partner-relay-${stage.name}`, { config, stage });
} catch (error) {
  // The person who deploys can correct these. Where they are thrown says nothing to them.
  if (!(error instanceof StageError || error instanceof ConfigFileError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
