import { App } from 'aws-cdk-lib';
import { loadConfig } from '../lib/config/config-file.ts';
import { DeployRoleStack } from './deploy-role.ts';

/** `npx cdk deploy --app 'node infra/deploy-role-app.ts' -c repository=acme/partner-relay -c stage=prod` */
const app = new App();
const context = (name: string) => String(app.node.tryGetContext(name) ?? '');

const [repository, stage] = [context('repository'), context('stage')];
new DeployRoleStack(app, `partner-relay-${stage}-deploy-role`, { repository, stage, config: await loadConfig() });
