import type * as z from 'zod/mini';
import { meantName } from '../lib/faults/fault.ts';
import { githubCredentials } from '../lib/platforms/github/github-client.ts';
import { hookSecret } from '../lib/state/secrets/hook-secrets.ts';
import { instanceSecret, partnerSecret } from '../lib/state/secrets/partner-secrets.ts';
import {
  calendarSecret,
  githubWebhookSecret,
  grantsSecret,
  intakeSecret,
  markersSecret,
  slackSecret,
} from '../lib/state/secrets/secrets.ts';

/** The names of the secrets, as a person is told them. */
export const SECRET_NAMES = [
  'github-webhook',
  'github',
  'slack',
  'grants',
  'markers',
  'intake',
  'instance/<connection>',
  'partner/<connection>',
  'calendar/<team>',
  'hooks/<automation>',
] as const;

/** The fields of a secret, by a pattern of its name. */
const schemas: readonly [RegExp, z.ZodMiniObject][] = [
  [/^github-webhook$/, githubWebhookSecret],
  [/^github$/, githubCredentials],
  [/^slack$/, slackSecret],
  [/^grants$/, grantsSecret],
  [/^markers$/, markersSecret],
  [/^intake$/, intakeSecret],
  [/^instance\/[a-z0-9-]+$/, instanceSecret],
  [/^partner\/[a-z0-9-]+$/, partnerSecret],
  [/^calendar\/[a-z0-9-]+$/, calendarSecret],
  [/^hooks\/[a-z0-9-]+$/, hookSecret],
];

/** @throws {Error} for a name that no secret has */
export function secretSchema(name: string): z.ZodMiniObject {
  const found = schemas.find(([pattern]) => pattern.test(name));
  if (!found) throw new Error(`there is no secret '${name}'; ${meantName(name, SECRET_NAMES)}`);
  return found[1];
}
