import { setTimeout } from 'node:timers/promises';
import { createBudget } from '../lib/budget/budget.ts';
import type { Limits } from '../lib/budget/window.ts';
import type { RelayConfig } from '../lib/config/schema.ts';
import { unknownName } from '../lib/faults/unknown-name.ts';
import { createPartnerClient, type PartnerClient, type PartnerClientOptions } from '../lib/partner/client.ts';
import { PartnerRefusal } from '../lib/partner/errors.ts';
import { partnerSecret, SecretError } from '../lib/secrets/secrets.ts';
import type { Table } from '../lib/table/table.ts';
import { readKeptSecrets } from '../local/kept-secrets.ts';
import { type Partner, partnersOf } from '../local/partners.ts';
import { trustCaFile } from '../local/trust.ts';
import { callWithinBudget } from './call-within-budget.ts';
import { NoRelay, type OpenTarget, type Target } from './target.ts';

/**
 * Makes calls on one connection: to the instance of the `PARTNER_…` variables, otherwise to that of the relay, and
 * without a relay to that of the secret which `relay secrets set` keeps on this machine.
 *
 * The calls take slots of the relay's budget. The limits belong to the key. If no relay with the same key is found,
 * there is no budget to share: the calls are sent at once, and `tell` says so.
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
  const settings = config.connections[connection];
  if (!settings) throw new Error(unknownName('relay.config.ts has no connection', connection, known));
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
    return callsWithin({ partner, table, connection, limits: settings.limits, clock: Date.now, fetch, tell });
  }
  tell(
    'no relay with this key was found, so no budget is shared: calls are sent at once, and other callers do not count them',
  );
  return withTheirClock(createPartnerClient(partner).call);
}

export interface CallsOptions {
  partner: Pick<PartnerClientOptions, 'baseUrl' | 'apiKey' | 'secretKey' | 'allowInsecureHttp'>;
  table: Table;
  connection: string;
  limits: Limits;
  clock: () => number;
  fetch: typeof globalThis.fetch;
  /** Is told what a call waits for, before it does. */
  tell: (line: string) => void;
}

/** Calls with the relay's own key, in slots of its budget. */
export function callsWithin({ partner, table, clock, fetch, ...options }: CallsOptions): PartnerClient['call'] {
  const client = createPartnerClient({ ...partner, clock, fetch });
  const sleep = async (ms: number) => void (await setTimeout(ms));
  return withTheirClock(callWithinBudget({ client, budget: createBudget(table, clock), clock, sleep, ...options }));
}

/** The relay's own secret. It may be missing if the `PARTNER_…` variables are set. */
async function secretOf(connection: string, { stores }: Target, named: Partner | undefined) {
  try {
    return await stores.secrets.current(`partner/${connection}`, partnerSecret);
  } catch (error) {
    if (named && error instanceof SecretError) return undefined;
    throw error;
  }
}

/** Signs and sends again once if the clocks differ. A call refused for its timestamp was not carried out. */
function withTheirClock(call: PartnerClient['call']): PartnerClient['call'] {
  return async (operation, payload) => {
    try {
      return await call(operation, payload);
    } catch (error) {
      if (error instanceof PartnerRefusal && error.clockOffsetSeconds !== null) return call(operation, payload);
      throw error;
    }
  };
}
