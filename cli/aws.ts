import { defaultProvider } from '@aws-sdk/credential-provider-node';
import { ON_COMMAND, ofTry } from '../lib/aws-limits.ts';
import type { AwsClient } from '../lib/runtime.ts';

/**
 * The settings of every SDK client. Requests go through the proxy of the environment (`HTTPS_PROXY`, `NO_PROXY`). The
 * credential provider makes its own clients, for SSO and for roles, so it needs the proxy, too.
 */
export function awsClient({ tries, tryMs } = ON_COMMAND) {
  const requestHandler = { httpsAgent: { proxyEnv: process.env }, ...ofTry(tryMs) };
  const credentials = defaultProvider({ clientConfig: { requestHandler } });
  return { requestHandler, maxAttempts: tries, credentials } satisfies AwsClient & { maxAttempts: number };
}
