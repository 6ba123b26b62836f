import type { RelayConfig } from '../../lib/config/schema.ts';
import type { Secrets } from '../../lib/state/secrets/secrets.ts';
import type { Table } from '../../lib/state/table/table.ts';
import { readKeptSecrets } from '../../local/kept-secrets.ts';
import { slackAppOf } from '../../local/secrets.ts';
import { secretsWithoutRelay } from '../../local/secrets-without-relay.ts';
import { enteredAtStart, type OpenTarget, unlessNone } from '../target.ts';

interface Credentials {
  secrets: Secrets;
  githubStandIn?: string | undefined;
  /** Undefined without a relay. */
  table?: Table;
  /** Undefined if Slack is not configured or, without a relay, has no secrets. */
  slackUrl: string | undefined;
}

/** The relay's credentials. Without a relay, the credentials that `partner-relay start` would use. */
export async function credentialsOf(config: RelayConfig, open: OpenTarget): Promise<Credentials> {
  const target = await unlessNone(open);
  if (!target) {
    const kept = readKeptSecrets();
    const hasSlack = slackAppOf(kept, process.env) !== undefined;
    const secrets = secretsWithoutRelay(kept, process.env);
    return { secrets, slackUrl: hasSlack ? config.slack?.apiUrl : undefined };
  }
  const { slackStandIn, githubStandIn, stores } = target;
  const slackUrl = slackStandIn ? `${slackStandIn.url}/api` : config.slack?.apiUrl;
  const secrets: Secrets = {
    ...stores.secrets,
    current(name, schema) {
      const secret = stores.secrets.current(name, schema);
      return name === 'slack' ? enteredAtStart('slack', target, secret) : secret;
    },
  };
  return { secrets, table: stores.table, githubStandIn, slackUrl };
}
