import { connectionSettings } from '../lib/config/settings.ts';
import { createVerifyCreated, type VerifyCreated } from '../lib/engine/operate/verify-created.ts';
import { callsWithin } from '../lib/service/connection/operator-calls.ts';
import { partnerSecret } from '../lib/state/secrets/partner-secrets.ts';
import type { OperatedRelay } from './relay.ts';

/** Asks the service whether something exists, with the relay's key and within its budget. */
export function verifyWithService({ runtime, stores }: Pick<OperatedRelay, 'runtime' | 'stores'>): VerifyCreated {
  const { config, clock, fetch } = runtime;
  return createVerifyCreated(config, async (connection) => {
    const { limits } = connectionSettings(config, connection);
    const partner = await stores.secrets.current(`partner/${connection}`, partnerSecret);
    return callsWithin({
      partner,
      table: stores.table,
      connection,
      limits,
      clock,
      fetch,
      // Called before a call waits for the budget. A page must not wait.
      tell: () => {
        throw new Error('the budget has no call left to ask the service now; try again later');
      },
    });
  });
}
