import { App } from 'aws-cdk-lib';
import { loadConfig } from '../lib/config/config-file.ts';
import { RelayStack } from './relay-stack.ts';
import { readStage } from './stage.ts';

const app = new App();
const config = await loadConfig();
const stage = readStage(app.node.tryGetContext('stage'), config);

// The stack has no fixed region or account, so the same code deploys to any.
new RelayStack(app, `partner-relay-${stage.name}`, { config, stage });
