import type { Limits } from '../budget/budget.ts';
import type { RelayConfig } from '../config/schema.ts';
import { CALL_TIMEOUT_MS, createPartnerClient, type PartnerClient } from '../partner/client.ts';
import { type Operation, withOverride } from '../partner/operation.ts';
import { partnerSecret, type Secrets } from '../secrets/secrets.ts';

/** One instance of the service with one API key. */
export interface Connection {
  name: string;
  limits: Limits;
  /** The longest that one call takes. */
  timeoutMs: number;
  /** The operation as this instance has it. */
  operation<O extends Operation>(declared: O): O;
  /** The client with the key that the secret holds now. */
  client(): Promise<PartnerClient>;
  /** The service does not know the key or the signature: the secret may have been rotated, so it is read again. */
  suspectKey(): void;
}

export interface ConnectionsOptions {
  config: RelayConfig;
  secrets: Secrets;
  clock: () => number;
  random?: (size: number) => Uint8Array;
  fetch?: typeof globalThis.fetch;
}

/** @throws {Error} for a name that the configuration does not have, as of a job older than it */
export function createConnections(options: ConnectionsOptions): (name: string) => Connection {
  const { config, secrets, clock, random, fetch } = options;
  const made = new Map<string, Connection>();

  function make(name: string): Connection {
    const settings = config.connections[name];
    if (!settings) throw new Error(`relay.config.ts has no connection '${name}'`);
    const secretName = `partner/${name}`;
    let last: { key: string; client: PartnerClient } | undefined;
    return {
      name,
      limits: settings.limits,
      timeoutMs: CALL_TIMEOUT_MS,
      operation: (declared) => withOverride(declared, settings.operations[declared.name]),
      async client() {
        const secret = await secrets.current(secretName, partnerSecret);
        const key = JSON.stringify(secret);
        // The client remembers the clock's offset, so it is kept for as long as its secret is the same.
        if (last?.key !== key) {
          last = {
            key,
            client: createPartnerClient({ ...secret, clock, ...(random && { random }), ...(fetch && { fetch }) }),
          };
        }
        return last.client;
      },
      suspectKey: () => void secrets.refresh(secretName),
    };
  }

  return (name) => {
    const connection = made.get(name) ?? make(name);
    made.set(name, connection);
    return connection;
  };
}
