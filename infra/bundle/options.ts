import { join } from 'node:path';

const here = import.meta.dirname;

/** Bundles a function into one file. This includes the AWS SDK, because the runtime has another version of it. */
export const bundleOptions = {
  target: 'node24',
  mainFields: ['module', 'main'],
  minify: true,
};

/**
 * Replacements for modules that a function imports.
 *
 * @param configFile the configuration as JSON, checked and with its defaults, so a cold start does not check it again
 */
export function bundleAliases(configFile: string): Record<string, string> {
  return {
    '#relay.config': configFile,
    '@aws-sdk/credential-provider-node': join(here, 'lambda-credentials.ts'),
    '@smithy/core/event-streams': join(here, 'nothing.ts'),
    'node:http': join(here, 'node-http.cjs'),
  };
}
