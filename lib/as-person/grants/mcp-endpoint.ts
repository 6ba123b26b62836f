import type { Budget } from '../../service/budget/budget.ts';
import { BudgetUnavailable } from '../../service/budget/budget-store.ts';
import { instanceRoot } from '../../service/partner/base-url.ts';
import { readRetryAfter } from '../../service/partner/retry-after.ts';
import { instanceSecret } from '../../state/secrets/partner-secrets.ts';
import type { Secrets } from '../../state/secrets/secrets.ts';
import type { Table } from '../../state/table/table.ts';
import type { Permit, Transport } from '../protocol/transport.ts';
import { createAccessTokens } from './access-tokens.ts';
import { createAccountLink } from './account-link.ts';
import { createGrants } from './grants.ts';
import { createPermit, type PermitOptions } from './permit.ts';
import { createToolCalls, type Sessions } from './tool-calls.ts';
import { createVault } from './vault.ts';

export type McpEndpoint = Awaited<ReturnType<typeof openMcpEndpoint>>;

export interface McpEndpointOptions extends Omit<PermitOptions, 'budget' | 'name'> {
  connection: string;
  table: Table;
  secrets: Secrets;
  /** Without it no budget is shared: the calls come from another address than the relay's. */
  budget: Budget | undefined;
  random: () => number;
  randomBytes: (size: number) => Uint8Array;
  fetch: typeof globalThis.fetch;
  /** To share sessions with later calls of this process. */
  sessions?: Sessions;
  /** The secret that says where the instance is, by default that of the connection. */
  addressFrom?: 'instance';
}

/** The pause after a 429 without a Retry-After if there is no budget, or it cannot be written. */
const UNKNOWN_PAUSE_MS = 60_000;

const atOnce: Permit = async (send, leaving) => {
  await leaving?.mayLeave();
  leaving?.leaves();
  return send();
};

/**
 * The MCP endpoint of one connection, called as people.
 *
 * @throws {SecretError | BaseUrlError} if the connection's secret cannot be used
 */
export async function openMcpEndpoint(options: McpEndpointOptions) {
  const { connection, table, secrets, budget, clock, sleep, fetch, sessions } = options;
  const secret = await secrets.current(`${options.addressFrom ?? 'partner'}/${connection}`, instanceSecret);
  const endpoint = mcpEndpoint(instanceRoot(secret.baseUrl, secret));
  const name = mcpBudgetName(endpoint);
  const permit: Permit = budget ? createPermit({ ...options, budget, name }) : atOnce;
  const transport: Transport = { endpoint, permit, fetch, clock, sleep };
  const http = { endpoint, fetch };
  const grants = createGrants(table, createVault(secrets, options.randomBytes), clock);
  const tokens = createAccessTokens({ ...options, grants, http });
  return {
    endpoint,
    /** The budget that all callers of the instance share. */
    budgetName: name,
    grants,
    link: createAccountLink(connection, transport),
    tools: createToolCalls({
      transport,
      tokens,
      async pause(forMs) {
        try {
          if (budget) return await budget.pause(name, options.limits, forMs);
        } catch (error) {
          // Without the budget, other callers learn it from the service, as this call did.
          if (!(error instanceof BudgetUnavailable)) throw error;
        }
        return clock() + (forMs ?? UNKNOWN_PAUSE_MS);
      },
      retryAfterSeconds: (header) => readRetryAfter(header, clock()),
      sessions,
    }),
  };
}

/** The path of the MCP endpoint below the base URL (docs/partner-api.md#mcp-endpoint). */
const MCP_PATH = '/mcp/partner';

/** @param instance the base URL, without a slash at its end */
const mcpEndpoint = (instance: string): string => instance + MCP_PATH;

/**
 * The name of the budget that all callers of an instance share: its limits are counted per calling address
 * (docs/partner-api.md#limits), whatever the connection or the person.
 */
export const mcpBudgetName = (endpoint: string): string => `mcp:${new URL(endpoint).host}`;
