import { openStores, type Stores, systemRuntime } from '../lib/runtime.ts';
import { partnerSecret } from '../lib/secrets/secrets.ts';
import { type PartnerVariables, partnerFromEnvironment } from '../local/partner-variables.ts';
import { findRunning } from '../local/state.ts';

/** A relay that the command line works on. */
export interface Target {
  /** Of its webhooks. */
  url: string;
  stores: Stores;
}

/** The relay that runs in this folder. @throws {Error} where none does */
export async function openTarget(): Promise<Target> {
  const running = findRunning();
  if (!running) throw new Error('no relay runs in this folder; start one with: npm start');
  Object.assign(process.env, running.variables);
  const { default: config } = await import('../relay.config.ts');
  return { url: running.url, stores: openStores(systemRuntime(config, process.env)) };
}

/** The instance to call: that of the `PARTNER_…` variables, or else that of the relay that runs in this folder. */
export async function partnerOf(connection: string): Promise<PartnerVariables> {
  const named = partnerFromEnvironment(process.env);
  if (named) return named;
  if (!findRunning()) {
    throw new Error(
      'no instance to call: set PARTNER_BASE_URL, PARTNER_API_KEY and PARTNER_SECRET_KEY, or start the sandbox with: npm start',
    );
  }
  const { stores } = await openTarget();
  return stores.secrets.current(`partner/${connection}`, partnerSecret);
}
