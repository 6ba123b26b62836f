import { randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import type { Grant, Holder } from '../../lib/as-person/grants/grant.ts';
import { type McpEndpoint, type McpEndpointOptions, openMcpEndpoint } from '../../lib/as-person/grants/mcp-endpoint.ts';
import { openStores, type Stores, systemRuntime } from '../../lib/runtime.ts';
import { createBudget } from '../../lib/service/budget/budget.ts';
import { keys } from '../../lib/state/table/keys.ts';
import type { Item } from '../../lib/state/table/table.ts';
import { type MemoryStack, openMemoryStack } from '../../local/world/memory-stack.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../sandbox/sandbox.ts';
import { exampleConfig, type TestClock } from '../relay.ts';
import { type Choices, consent } from '../sandbox/mcp/consent.ts';

export const mira: Holder = { in: 'slack', id: 'U0MIRA' };
export const REDIRECT_URI = 'http://127.0.0.1:8790/callback';

/** The table and the secrets of a relay, an instance of the service, and the workers that share them. */
export interface World {
  clock: TestClock;
  stack: MemoryStack;
  stores: Stores;
  /** Starts a worker in its own process. */
  worker(options?: Partial<McpEndpointOptions>): Promise<McpEndpoint>;
  /** The stored grant of Mira. */
  grant(): Promise<Item | undefined>;
}

export async function startWorld(baseUrl: string): Promise<World> {
  const clock: TestClock = { now: Date.parse('2026-11-20T10:00:00Z') };
  const read = () => clock.now;
  const stack = openMemoryStack({ clock: read });
  onTestFinished(() => stack.close());
  const put = (name: string, value: object) => stack.secrets.put(stack.secretPrefix + name, value);
  put('grants', { key: 'a key of the tests, long enough for it' });
  put('partner/main', { baseUrl, apiKey: 'pk_test', secretKey: 'sk_test' });
  Object.assign(process.env, stack.variables);
  const runtime = { ...systemRuntime(exampleConfig(), process.env), clock: read };
  const stores = openStores(runtime);
  const sleep = async (ms: number) => {
    // Lets other work continue.
    await new Promise((resolve) => setTimeout(resolve, 1));
    clock.now += ms;
  };
  return {
    clock,
    stack,
    stores,
    worker(options = {}) {
      const { table, secrets } = openStores(runtime);
      return openMcpEndpoint({
        connection: 'main',
        limits: { perMinute: 120, perDay: 5_000 },
        table,
        secrets,
        budget: createBudget({ table, clock: read }),
        lane: 'interactive',
        clock: read,
        sleep,
        random: () => 0.5,
        randomBytes,
        fetch: globalThis.fetch,
        waitUntil: async (at) => {
          clock.now = Math.max(clock.now, at);
        },
        ...options,
      });
    },
    grant: () => stores.table.get(keys.grant(mira.in, mira.id, 'main')),
  };
}

export interface SandboxWorld extends World {
  sandbox: Sandbox;
  /** Links Mira's account through the pages of the sandbox. */
  link(mcp: McpEndpoint, choices?: Choices & { ask?: readonly string[] }): Promise<Grant>;
}

/** A harmless call. */
export const read = (worker: McpEndpoint) => worker.tools.call(mira, 'repeatable', 'list_projects', {});

/** Returns the error of a call, if it fails. */
export const failureOf = (call: Promise<unknown>) => call.catch((error: unknown) => error);

/** A world in which Mira has linked her account, with a worker. */
export async function startLinked(options: SandboxOptions = {}) {
  const world = await startSandboxWorld(options);
  const worker = await world.worker();
  return { world, worker, grant: await world.link(worker) };
}

/** A world with the sandbox on the same clock, with MCP enabled. */
export async function startSandboxWorld(options: SandboxOptions = {}): Promise<SandboxWorld> {
  let world: World | undefined;
  const clock = () => world?.clock.now ?? 0;
  const sandbox = await startSandbox({ clock, ...options, mcp: { enabled: true, ...options.mcp } });
  onTestFinished(() => sandbox.close());
  world = await startWorld(sandbox.url);
  return {
    ...world,
    sandbox,
    async link({ link, grants }, { ask, ...choices } = {}) {
      const { url, pending } = await link.begin(REDIRECT_URI, { only: ask });
      const { searchParams } = await consent(sandbox, url, choices);
      return grants.link(mira, await link.finish(pending, searchParams));
    },
  };
}
