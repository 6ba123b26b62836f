import { defaultProvider } from '@aws-sdk/credential-provider-node';
import type { AwsClient } from '../lib/runtime.ts';

/**
 * The settings of every client of the SDK. They lead through the proxy of the environment, `HTTPS_PROXY` and `NO_PROXY`.
 * The provider of the credentials makes clients of its own, for SSO and for roles, so it gets the proxy, too.
 */
export function awsClient() {
  const requestHandler = { httpsAgent: { proxyEnv: process.env } };
  return { requestHandler, credentials: defaultProvider({ clientConfig: { requestHandler } }) } satisfies AwsClient;
}
