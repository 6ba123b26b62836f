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
  /** Undefined for callers with another address than the relay's, which share no budget. */
  budget: Budget | undefined;
  random: () => number;
  randomBytes: (size: number) => Uint8Array;
  fetch: typeof globalThis.fetch;
  /** Lets later calls of this process reuse the sessions. */
  sessions?: Sessions;
  /** The secret with the instance's address; by default the connection's secret. */
  addressFrom?: 'instance';
}

/** The pause after a 429 without a Retry-After, if there is no budget or it cannot be written. */
const UNKNOWN_PAUSE_MS = 60_000;

const atOnce: Permit = async (send, leaving) => {
  await leaving?.mayLeave();
  leaving?.leaves();
  return send();
};

/**
 * Opens the MCP endpoint of one connection for calls as people.
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
    /** The name of the budget that all callers of the instance share. */
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
          // If the pause cannot be written, other callers get their own 429 from the service.
          if (!(error instanceof BudgetUnavailable)) throw error;
        }
        return clock() + (forMs ?? UNKNOWN_PAUSE_MS);
      },
      retryAfterSeconds: (header) => readRetryAfter(header, clock()),
      sessions,
    }),
  };
}

/** The path of the MCP endpoint, relative to the base URL (docs/partner-api.md#mcp-endpoint). */
const MCP_PATH = '/mcp/partner';

/** @param instance the base URL, without a trailing slash */
const mcpEndpoint = (instance: string): string => instance + MCP_PATH;

/**
 * Returns the name of the budget that all callers of an instance share. The service counts calls per calling address
 * (docs/partner-api.md#limits), across connections and people.
 */
export const mcpBudgetName = (endpoint: string): string => `mcp:${new URL(endpoint).host}`;
