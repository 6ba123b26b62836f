import * as z from 'zod/mini';
import { SecretError, type Secrets } from '../lib/state/secrets/secrets.ts';
import type { KeptSecrets } from './kept-secrets.ts';
import { githubOf, githubWebhookOf, slackAppOf } from './secrets.ts';

/**
 * The secrets of GitHub and Slack that `partner-relay start` would use, for a check without a relay.
 *
 * @throws {Error} for secrets that `partner-relay start` would refuse
 */
export function secretsWithoutRelay(
  kept: KeptSecrets,
  variables: Readonly<Record<string, string | undefined>>,
): Secrets {
  const slack = slackAppOf(kept, variables);
  const values = new Map<string, object>([
    ['github-webhook', githubWebhookOf(kept, variables).value],
    ['github', githubOf(kept, variables)?.value ?? {}],
    ...(slack ? ([['slack', slack.value]] as const) : []),
  ]);
  const current: Secrets['current'] = async (name, schema) => {
    const read = z.safeParse(schema, values.get(name));
    if (read.success) return read.data;
    throw new SecretError(`the secret ${name} is not there; enter it: npx partner-relay secrets set ${name}`);
  };
  return {
    current,
    async *accepted(name, schema) {
      yield await current(name, schema);
    },
    prepare: () => {},
    refresh: () => false,
  };
}
