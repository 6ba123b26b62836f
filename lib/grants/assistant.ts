import type { Budget } from '../budget/budget.ts';
import { BudgetUnavailable } from '../budget/budget-store.ts';
import type { Lane } from '../budget/lanes.ts';
import type { Limits } from '../budget/window.ts';
import { mcpBudgetName, mcpEndpoint } from '../mcp/endpoint.ts';
import type { Permit, Transport } from '../mcp/transport.ts';
import { instanceRoot } from '../partner/base-url.ts';
import { readRetryAfter } from '../partner/retry-after.ts';
import { partnerSecret, type Secrets } from '../secrets/secrets.ts';
import type { Table } from '../table/table.ts';
import { createAccessTokens } from './access-tokens.ts';
import { type AccountLink, createAccountLink } from './account-link.ts';
import { createAuthorizationServers } from './authorization-servers.ts';
import { createGrants, type Grants } from './grants.ts';
import { createPermit } from './permit.ts';
import { createRegistrations } from './registrations.ts';
import { createToolCalls, type Sessions, type ToolCalls } from './tool-calls.ts';
import { createVault } from './vault.ts';

/** The MCP endpoint of one connection, as people use it. */
export interface Assistant {
  endpoint: string;
  /** The budget that all callers of the instance share. */
  budgetName: string;
  grants: Grants;
  link: AccountLink;
  tools: ToolCalls;
}

export interface AssistantOptions {
  connection: string;
  /** `connections.<name>.mcp.limits` of the configuration. */
  limits: Limits;
  table: Table;
  secrets: Secrets;
  /** Without it no budget is shared: the calls come from another address than the relay's. */
  budget: Budget | undefined;
  lane: Lane;
  clock: () => number;
  sleep: (ms: number) => Promise<unknown>;
  random: () => number;
  randomBytes: (size: number) => Uint8Array;
  fetch: typeof globalThis.fetch;
  /** Waits in place for a slot until then, or throws what makes the caller come back later. */
  waitUntil: (at: number, why: string) => Promise<void>;
  /** To share sessions with later calls of this process. */
  sessions?: Sessions;
}

const atOnce: Permit = async (send, beforeSend) => {
  await beforeSend?.();
  return send();
};

/** @throws {SecretError | BaseUrlError} for a connection whose secret cannot be used */
export async function openAssistant(options: AssistantOptions): Promise<Assistant> {
  const { connection, table, secrets, budget, clock, sleep, fetch, sessions } = options;
  const secret = await secrets.current(`partner/${connection}`, partnerSecret);
  const endpoint = mcpEndpoint(instanceRoot(secret.baseUrl, secret));
  const name = mcpBudgetName(endpoint);
  const permit: Permit = budget ? createPermit({ ...options, budget, name }) : atOnce;
  const transport: Transport = { endpoint, permit, fetch, clock, sleep };
  const http = { endpoint, fetch };
  const serverOf = createAuthorizationServers(http, clock);
  const grants = createGrants(table, createVault(secrets, options.randomBytes), clock);
  const tokens = createAccessTokens({ ...options, grants, http, serverOf });
  return {
    endpoint,
    budgetName: name,
    grants,
    link: createAccountLink({
      connection,
      transport,
      registrations: createRegistrations({ connection, table, http, clock }),
      serverOf,
    }),
    tools: createToolCalls({
      transport,
      tokens,
      async pause(until) {
        // Without the budget, the others hear it from the service, as this call has.
        await budget?.pause(name, until).catch((error) => {
          if (!(error instanceof BudgetUnavailable)) throw error;
        });
      },
      retryAfterSeconds: (header) => readRetryAfter(header, clock()),
      ...(sessions && { sessions }),
    }),
  };
}
