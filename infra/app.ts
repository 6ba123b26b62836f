import { App } from 'aws-cdk-lib';
import config from '../relay.config.ts';
import { RelayStack } from './relay-stack.ts';
import { readStage } from './stage.ts';

const app = new App();
const stage = readStage(app.node.tryGetContext('stage'), config);

// Region and account are the caller's own, so that the same code goes to any.
new RelayStack(app, `partner-relay-${stage.name}`, { config, stage });
