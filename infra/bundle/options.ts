import { join } from 'node:path';

const here = import.meta.dirname;

/** How a function becomes one file: everything inside, also the AWS SDK, whose version in the runtime is another. */
export const bundleOptions = {
  target: 'node24',
  mainFields: ['module', 'main'],
  minify: true,
};

/**
 * What is put in place of what a function imports.
 *
 * @param configFile the configuration as JSON, checked and with its defaults: a cold start need not check it again
 */
export function bundleAliases(configFile: string): Record<string, string> {
  return {
    '#relay.config': configFile,
    '@aws-sdk/credential-provider-node': join(here, 'lambda-credentials.ts'),
    '@smithy/core/event-streams': join(here, 'nothing.ts'),
    'node:http': join(here, 'node-http.cjs'),
  };
}
