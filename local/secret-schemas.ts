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

/** The fields of each secret, by the name that people use. */
const SCHEMAS: Readonly<Record<string, z.ZodMiniObject>> = {
  'github-webhook': githubWebhookSecret,
  github: githubCredentials,
  slack: slackSecret,
  grants: grantsSecret,
  markers: markersSecret,
  intake: intakeSecret,
  'instance/<connection>': instanceSecret,
  'partner/<connection>': partnerSecret,
  'calendar/<team>': calendarSecret,
  'hooks/<automation>': hookSecret,
};

export const SECRET_NAMES = Object.keys(SCHEMAS);

/** Returns the fields of a secret. @throws {Error} if no secret has this name */
export function secretSchema(name: string): z.ZodMiniObject {
  const kind = SECRET_NAMES.find((one) => new RegExp(`^${one.replace(/<.*>/, '[a-z0-9-]+')}$`).test(name));
  const schema = kind === undefined ? undefined : SCHEMAS[kind];
  if (!schema) throw new Error(`there is no secret '${name}'; ${meantName(name, SECRET_NAMES)}`);
  return schema;
}
