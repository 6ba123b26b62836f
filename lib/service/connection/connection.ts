import type { RelayConfig } from '../../config/schema.ts';
import { digest } from '../../digest.ts';
import { partnerSecret } from '../../state/secrets/partner-secrets.ts';
import type { Secrets } from '../../state/secrets/secrets.ts';
import type { KeyHolder } from '../budget/budget-ids.ts';
import type { Limits } from '../budget/window.ts';
import { partnerRoot } from '../partner/base-url.ts';
import {
  CALL_TIMEOUT_MS,
  createPartnerClient,
  type PartnerClient,
  type PartnerClientOptions,
} from '../partner/client.ts';
import { type Operation, withOverride } from '../partner/operation.ts';

/** One instance of the service with one API key. */
export interface Connection extends KeyHolder {
  name: string;
  limits: Limits;
  mcpLimits: Limits;
  /** The share of the day's calls that outside contributors may cause. */
  strangersShare: number;
  timeoutMs: number;
  /** Returns the operation with this instance's overrides. */
  operation<O extends Operation>(declared: O): O;
  /** Returns a client with the current key from the secret. */
  client(): Promise<PartnerClient>;
  /**
   * Call this when the service rejects the key or the signature, or an answer is not the service's. Reads the secret
   * again, because it may have been corrected. The breaker allows few such calls.
   */
  suspectKey(): void;
}

/** Returns the id of a key's budget (docs/partner-api.md#limits). It does not depend on the secret key. */
export function budgetIdOf({
  baseUrl,
  apiKey,
  ...options
}: Pick<PartnerClientOptions, 'baseUrl' | 'apiKey' | 'allowInsecureHttp'>): string {
  return digest(['budget', partnerRoot(baseUrl, options), apiKey]);
}

export interface ConnectionsOptions {
  config: RelayConfig;
  secrets: Secrets;
  clock: () => number;
  random: (size: number) => Uint8Array;
  fetch: typeof globalThis.fetch;
}

/** @returns a lookup by name; undefined if the configuration has no such connection */
export function createConnections(options: ConnectionsOptions): (name: string) => Connection | undefined {
  const { config, secrets, clock, random, fetch } = options;
  const made = new Map<string, Connection>();

  function make(name: string, settings: RelayConfig['connections'][string]): Connection {
    const secretName = `partner/${name}`;
    let last: { key: string; client: PartnerClient; budgetId: string } | undefined;

    async function current() {
      const secret = await secrets.current(secretName, partnerSecret);
      const key = JSON.stringify(secret);
      // The client is kept until the secret changes, because it remembers the clock offset.
      if (last?.key !== key) {
        const client = createPartnerClient({ ...secret, clock, random, fetch });
        last = { key, client, budgetId: budgetIdOf(secret) };
      }
      return last;
    }

    return {
      name,
      limits: settings.limits,
      mcpLimits: settings.mcp.limits,
      strangersShare: settings.strangersShare,
      timeoutMs: CALL_TIMEOUT_MS,
      operation: (declared) => withOverride(declared, settings.operations[declared.name]),
      client: async () => (await current()).client,
      budgetId: async () => (await current()).budgetId,
      suspectKey: () => void secrets.refresh(secretName, 0),
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
