import type { RelayConfig } from '../lib/config/schema.ts';
import { connectionSettings } from '../lib/config/settings.ts';
import { callsWithin, withTheirClock } from '../lib/service/connection/operator-calls.ts';
import { createPartnerClient, type PartnerClient } from '../lib/service/partner/client.ts';
import { partnerSecret } from '../lib/state/secrets/partner-secrets.ts';
import { SecretError } from '../lib/state/secrets/secrets.ts';
import { readKeptSecrets } from '../local/kept-secrets.ts';
import { type Partner, partnersOf } from '../local/partners.ts';
import { trustCaFile } from '../local/trust.ts';
import { enteredAtStart, NoRelay, type OpenTarget, type Target } from './target.ts';

/**
 * Makes calls on one connection: on the instance of the `PARTNER_…` variables, otherwise on the relay's. Without a
 * relay, the secret that `partner-relay secrets set` keeps on this machine names the instance.
 *
 * The limits belong to the key, so the calls take slots of the budget of the relay with the same key. Without such a
 * relay, the calls are sent at once, and `tell` says so.
 *
 * @throws {Error} for a connection that the configuration does not have
 */
export async function openPartner(
  connection: string,
  config: RelayConfig,
  open: OpenTarget,
  tell: (line: string) => void,
): Promise<PartnerClient['call']> {
  const known = Object.keys(config.connections);
  const { limits } = connectionSettings(config, connection);
  trustCaFile(config);
  const named = partnersOf(known, new Map(), process.env)?.get(connection);
  let entered = named;
  const target = await open().catch((error: unknown) => {
    if (error instanceof NoRelay) entered ??= partnersOf(known, readKeptSecrets(), {})?.get(connection);
    if (entered) return undefined;
    throw error;
  });
  const ofRelay = target && (await secretOf(connection, target, named));
  const partner = entered ?? ofRelay;
  if (!partner) throw new Error(`the secret of the connection ${connection} is missing`);
  if (target && ofRelay?.apiKey === partner.apiKey) {
    const { table } = target.stores;
    return callsWithin({ partner, table, connection, limits, clock: Date.now, fetch, tell });
  }
  tell(
    'no relay with this key was found, so no budget is shared: calls are sent at once, and other callers do not count them',
  );
  return withTheirClock(createPartnerClient(partner).call);
}

/** Reads the relay's own secret, which may be missing if the `PARTNER_…` variables are set. */
async function secretOf(connection: string, target: Target, named: Partner | undefined) {
  try {
    const secret = target.stores.secrets.current(`partner/${connection}`, partnerSecret);
    return await enteredAtStart(`the connection ${connection}`, target, secret);
  } catch (error) {
    if (named && error instanceof SecretError) return undefined;
    throw error;
  }
}
