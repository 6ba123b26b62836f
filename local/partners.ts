import type * as z from 'zod/mini';
import { partnerSecret } from '../lib/state/secrets/partner-secrets.ts';
import { type KeptSecrets, secretsFile } from './kept-secrets.ts';

/** The address of an instance, and its key. */
export type Partner = z.output<typeof partnerSecret>;

/**
 * The instances by connection, on this machine. For a single connection, the `PARTNER_…` variables come first, then its
 * secret. Several connections have a secret each: if they shared a key, the service would count one budget, and the
 * relay several.
 *
 * @returns undefined if there are neither variables nor secrets
 * @throws {Error} if some variables or secrets are missing; the message names them
 */
export function partnersOf(
  connections: readonly string[],
  kept: KeptSecrets,
  environment: Readonly<Record<string, string | undefined>>,
): ReadonlyMap<string, Partner> | undefined {
  const named = partnerFromEnvironment(environment);
  const [only] = connections;
  if (named && only !== undefined && connections.length === 1) return new Map([[only, named]]);
  if (named) {
    throw new Error(
      `relay.config.ts has the connections ${connections.join(' and ')}, and PARTNER_… can serve only one: unset the ` +
        `variables, and enter the secret of each connection${howToEnter(connections)}`,
    );
  }
  const entered = connections.filter((name) => kept.has(`partner/${name}`));
  if (entered.length === 0) return undefined;
  const missing = connections.filter((name) => !entered.includes(name));
  if (missing.length > 0) {
    throw new Error(
      `${secretsFile()} has the secret of ${entered.join(' and ')}, but not of ${missing.join(' and ')}; ` +
        `enter it too${howToEnter(missing)}`,
    );
  }
  return new Map(connections.map((name) => [name, partnerSecret.parse(kept.get(`partner/${name}`))]));
}

const howToEnter = (connections: readonly string[]) =>
  connections.map((name) => `\n  npx partner-relay secrets set partner/${name}`).join('');

/**
 * Reads `PARTNER_BASE_URL`, `PARTNER_API_KEY` and `PARTNER_SECRET_KEY`. `PARTNER_ALLOW_INSECURE_HTTP` must be `true`
 * for an instance without https in a trusted network.
 *
 * @returns undefined if none is set
 * @throws {Error} if only some are set; the message names the missing ones
 */
export function partnerFromEnvironment(environment: Readonly<Record<string, string | undefined>>): Partner | undefined {
  const names = ['PARTNER_BASE_URL', 'PARTNER_API_KEY', 'PARTNER_SECRET_KEY'] as const;
  const [baseUrl, apiKey, secretKey] = names.map((name) => environment[name]);
  if (baseUrl && apiKey && secretKey) {
    const allowInsecureHttp = environment.PARTNER_ALLOW_INSECURE_HTTP === 'true';
    return { baseUrl, apiKey, secretKey, ...(allowInsecureHttp && { allowInsecureHttp }) };
  }
  const missing = names.filter((name) => !environment[name]);
  if (missing.length === names.length) return undefined;
  throw new Error(`${missing.join(' and ')} must be set too, to reach an instance of the service`);
}
