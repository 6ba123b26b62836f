import type { RelayConfig } from '../lib/config/schema.ts';
import { unknownName } from '../lib/faults/unknown-name.ts';

/**
 * The connection that a command works on.
 *
 * @param given what a person typed; by default `main`, or the only one
 * @throws {Error} for an unknown one, and if a choice is needed; the message names the connections
 */
export function connectionOf(config: RelayConfig, given: string | undefined): string {
  const known = Object.keys(config.connections);
  if (given === undefined) {
    const [only] = known;
    if (only !== undefined && known.length === 1) return only;
    if (known.includes('main')) return 'main';
    throw new Error(`name a --connection: relay.config.ts has ${known.join(', ')}`);
  }
  if (known.includes(given)) return given;
  throw new Error(unknownName('relay.config.ts has no connection', given, known));
}
