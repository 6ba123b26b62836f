import { join } from 'node:path';
import type { BuildOptions } from 'esbuild';
import { SOURCE } from '../../lib/project.ts';

const here = import.meta.dirname;

/** Bundles for Lambda's Node. They include the AWS SDK, because the runtime has another version of it. */
export const forLambda = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  mainFields: ['module', 'main'],
  minify: true,
  logLevel: 'error',
} as const satisfies BuildOptions;

/** How the files that a team writes are resolved. The module that imports them may be generated in another folder. */
export const ofTeams = {
  alias: {
    'partner-relay/zod': join(here, `../../lib/zod${SOURCE}`),
    'partner-relay': join(here, `../../lib/relay${SOURCE}`),
  },
  nodePaths: [join(here, '../../node_modules')],
} as const satisfies BuildOptions;

/**
 * How esbuild builds `functions/<slug>.ts`: what the function loads when it starts in `index.mjs`, and what it loads on
 * demand in chunks next to it.
 *
 * @param folder gets the files
 * @param configFile the configuration as JSON: checked and with its defaults, so a cold start does not check it again
 * @param ownModule a team's automations (own-build.ts), if it has some
 */
export function functionBuild(slug: string, folder: string, configFile: string, ownModule?: string) {
  return {
    ...forLambda,
    ...ofTeams,
    entryPoints: { index: join(here, `../../functions/${slug}.ts`) },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    splitting: true,
    write: false,
    alias: {
      ...ofTeams.alias,
      '#relay.config': configFile,
      ...(ownModule !== undefined && { '#automations': ownModule }),
      '@aws-sdk/credential-provider-node': join(here, 'lambda-credentials.ts'),
      '@aws-sdk/endpoint-cache': join(here, 'no-endpoint-cache.ts'),
      '@smithy/core/checksum': join(here, 'checksum.ts'),
      '@smithy/core/event-streams': join(here, 'nothing.ts'),
      // A module of Node that is imported loads modules for each of its properties: another HTTP client, inspectors. So
      // these take the properties that are used.
      'node:fs': join(here, 'node-fs.ts'),
      'node:fs/promises': join(here, 'node-fs-promises.ts'),
      'node:http': join(here, 'node-http.ts'),
      'node:https': join(here, 'node-https.ts'),
      'node:process': join(here, 'node-process.ts'),
      'node:util': join(here, 'node-util.ts'),
    },
    // The SDK asks whether a body is one, which loads web streams. Those of node:https never are.
    define: { ReadableStream: 'undefined' },
    // The SDK's clients import their package.json to say their version, which nobody needs.
    loader: { '.json': 'empty', '.config.json': 'json' },
  } as const satisfies BuildOptions;
}
