import { defaultProvider } from '@aws-sdk/credential-provider-node';
import type { AwsClient } from '../lib/runtime.ts';

/**
 * The settings of each client of the SDK: through the proxy of the environment, `HTTPS_PROXY` and `NO_PROXY`. What finds
 * the credentials calls AWS with clients of its own, for SSO and for roles.
 */
export function awsClient() {
  const requestHandler = { httpsAgent: { proxyEnv: process.env } };
  return { requestHandler, credentials: defaultProvider({ clientConfig: { requestHandler } }) } satisfies AwsClient;
}
