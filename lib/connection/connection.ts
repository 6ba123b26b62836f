import type { Limits } from '../budget/window.ts';
import type { RelayConfig } from '../config/schema.ts';
import { CALL_TIMEOUT_MS, createPartnerClient, type PartnerClient } from '../partner/client.ts';
import { type Operation, withOverride } from '../partner/operation.ts';
import { partnerSecret, type Secrets } from '../secrets/secrets.ts';

/** One instance of the service with one API key. */
export interface Connection {
  name: string;
  limits: Limits;
  /** Of its MCP endpoint. */
  mcpLimits: Limits;
  /** The part of the day's calls that people from outside may cause. */
  strangersShare: number;
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
  random: (size: number) => Uint8Array;
  fetch: typeof globalThis.fetch;
}

/** @returns the connection of a name, or undefined for one that the configuration does not have, or no longer */
export function createConnections(options: ConnectionsOptions): (name: string) => Connection | undefined {
  const { config, secrets, clock, random, fetch } = options;
  const made = new Map<string, Connection>();

  function make(name: string, settings: RelayConfig['connections'][string]): Connection {
    const secretName = `partner/${name}`;
    let last: { key: string; client: PartnerClient } | undefined;
    return {
      name,
      limits: settings.limits,
      mcpLimits: settings.mcp.limits,
      strangersShare: settings.strangersShare,
      timeoutMs: CALL_TIMEOUT_MS,
      operation: (declared) => withOverride(declared, settings.operations[declared.name]),
      async client() {
        const secret = await secrets.current(secretName, partnerSecret);
        const key = JSON.stringify(secret);
        // The client remembers the clock's offset, so it is kept for as long as its secret is the same.
        if (last?.key !== key) {
          last = { key, client: createPartnerClient({ ...secret, clock, random, fetch }) };
        }
        return last.client;
      },
      suspectKey: () => void secrets.refresh(secretName),
    };
  }

  return (name) => {
    const settings = config.connections[name];
    if (!settings) return undefined;
    const connection = made.get(name) ?? make(name, settings);
    made.set(name, connection);
    return connection;
  };
}
