import { join } from 'node:path';
import { partnerRoot } from '../lib/service/partner/base-url.ts';
import type { SandboxKey } from '../sandbox/checks.ts';
import { defaultKey, type Sandbox, type SandboxOptions, startSandbox } from '../sandbox/sandbox.ts';
import { keptPort } from './kept-port.ts';
import type { Partner } from './partners.ts';
import { STATE_FOLDER } from './state.ts';

/** What the connections call: instances of the service, or the sandbox for all of them. */
export interface Instances {
  /** By connection. */
  partners: ReadonlyMap<string, Partner>;
  sandbox?: Sandbox;
}

/**
 * The state folder of an instance, because jobs and links belong to one instance. With several connections, the first
 * one's folder counts, so that the state stays when a connection is added.
 */
export function stateFolder(real: ReadonlyMap<string, Partner> | undefined): string {
  const [first] = real?.values() ?? [];
  if (!first) return join(STATE_FOLDER, 'sandbox');
  const root = partnerRoot(first.baseUrl, first).replace(/^https?:\/\//, '');
  return join(STATE_FOLDER, root.replaceAll(/[^\w.-]+/g, '-'));
}

/** Starts the sandbox, with its records in the folder. */
export async function startSandboxFor(
  connections: readonly string[],
  folder: string,
  controlKey: string,
): Promise<Instances> {
  const { port, keep } = await keptPort(folder, 'sandbox');
  const instances = await startSandboxWith(connections, { dataFile: join(folder, 'sandbox.jsonl'), controlKey, port });
  keep(instances.sandbox.url);
  return instances;
}

/** Starts the sandbox, with a key for each connection. */
export async function startSandboxWith(
  connections: readonly string[],
  options: SandboxOptions,
): Promise<Required<Instances>> {
  const keys = connections.map(sandboxKey);
  const sandbox = await startSandbox({ ...options, keys, mcp: { enabled: true } });
  const partner = ({ apiKey, secretKey }: SandboxKey): Partner => ({ baseUrl: sandbox.url, apiKey, secretKey });
  return { partners: new Map(connections.map((name, index) => [name, partner(sandboxKey(name, index))])), sandbox };
}

/** Each connection gets its own key, as at the service, because limits belong to a key. */
function sandboxKey(connection: string, index: number): SandboxKey {
  if (index === 0) return defaultKey;
  return { ...defaultKey, apiKey: `pk_sandbox_${connection}`, secretKey: `sk_sandbox_of_${connection}` };
}
