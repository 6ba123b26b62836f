import type { RelayConfig } from '../lib/config/schema.ts';
import { connectionSettings } from '../lib/config/settings.ts';

/**
 * Returns the connection that a command works on.
 *
 * @param given what a person typed; by default `main`, or the only connection
 * @throws {Error} for an unknown connection, or if a choice is needed; the message names the connections
 */
export function connectionOf(config: RelayConfig, given: string | undefined): string {
  const known = Object.keys(config.connections);
  const [only] = known;
  const name = given ?? (known.length === 1 ? only : known.find((one) => one === 'main'));
  if (name === undefined) throw new Error(`name a --connection: relay.config.ts has ${known.join(', ')}`);
  connectionSettings(config, name);
  return name;
}
