import { statSync } from 'node:fs';
import { join } from 'node:path';
import { instanceSecret } from '../lib/state/secrets/partner-secrets.ts';
import { keptKey } from './kept-key.ts';
import type { KeptSecrets } from './kept-secrets.ts';
import type { Partner } from './partners.ts';
import { type Entered, githubOf, githubWebhookOf } from './secrets.ts';
import type { LocalStack } from './stack.ts';

const GRANTS_TODO = 'restore it, or remove it: then people link their accounts again';
const INTAKE_TODO = 'restore it, or remove it: then jobs that wait do not act through linked accounts any more';
const MARKERS_TODO = 'restore it, or remove it: then the relay does not recognize what it created before';

/** Puts the secrets into the stack, except Slack's: what a person entered, and generated keys that the folder keeps. */
export function enterSecrets(
  { secrets, secretPrefix }: LocalStack,
  folder: string,
  partners: ReadonlyMap<string, Partner>,
  kept: KeptSecrets,
) {
  const enter = (name: string, secret: object, createdAt?: number) =>
    secrets.put(secretPrefix + name, secret, createdAt);
  const ownKey = (name: string, todo: string) => ({ key: keptKey(join(folder, `${name}.key`), todo) });
  for (const [name, partner] of partners) {
    enter(`partner/${name}`, partner);
    enter(`instance/${name}`, instanceSecret.parse(partner));
  }
  const webhook = githubWebhookOf(kept, process.env);
  const github = githubOf(kept, process.env);
  enter('github-webhook', webhook.value);
  enter('github', github?.value ?? {});
  enter('grants', kept.get('grants') ?? ownKey('grants', GRANTS_TODO));
  enter('intake', kept.get('intake') ?? ownKey('intake', INTAKE_TODO));
  enter('hooks', hooksOf(kept));
  const ownMarkers = ownKey('markers', MARKERS_TODO);
  enter('markers', kept.get('markers') ?? ownMarkers, statSync(join(folder, 'markers.key')).mtimeMs);
  const webhookSecret: Entered<string> = { value: webhook.value.webhookSecret, from: webhook.from };
  return { webhookSecret, github };
}

/** The secrets of the team's webhooks, by webhook. */
export const hooksOf = (kept: KeptSecrets): object =>
  Object.fromEntries(
    [...kept].flatMap(([name, { secret, previous }]) =>
      name.startsWith('hooks/') ? [[name.slice('hooks/'.length), [secret, previous].filter(Boolean)] as const] : [],
    ),
  );
