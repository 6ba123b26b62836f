import { runCdkApp } from './cdk-app.ts';
import { RelayStack, relayOf } from './index.ts';

await runCdkApp(async (app, context) => {
  const props = await relayOf(context('stage'));
  // The stack has no fixed region or account, so the same code deploys to any.
  new RelayStack(app, `partner-relay-${props.stage.name}`, props);
});
