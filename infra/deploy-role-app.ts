import { loadConfig } from '../lib/config/config-file.ts';
import { runCdkApp } from './cdk-app.ts';
import { DeployRoleStack } from './deploy-role.ts';

/** `npx cdk deploy --app 'node infra/deploy-role-app.ts' -c repository=acme@1234/partner-relay@5678 -c stage=prod` */
await runCdkApp(async (app, context) => {
  const [repository = '', stage = ''] = [context('repository'), context('stage')];
  new DeployRoleStack(app, `partner-relay-${stage}-deploy-role`, { repository, stage, config: await loadConfig() });
});
