import { App } from 'aws-cdk-lib';
import { DeployRoleStack } from './deploy-role.ts';

/** `npx cdk deploy --app 'node infra/deploy-role-app.ts' -c repository=acme/partner-relay -c stage=prod` */
const app = new App();

function context(name: string, pattern: RegExp): string {
  const value = String(app.node.tryGetContext(name) ?? '');
  // A wildcard would give other repositories or stages access.
  if (!pattern.test(value))
    throw new Error(`the ${name} is missing or invalid: set -c ${name}=…, matching ${pattern.source}`);
  return value;
}

const repository = context('repository', /^[\w.-]+\/[\w.-]+$/);
const stage = context('stage', /^[a-z][a-z0-9-]{0,19}$/);
new DeployRoleStack(app, `partner-relay-${stage}-deploy-role`, { repository, stage });
