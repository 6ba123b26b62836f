import { expect } from 'vitest';
import type { Sandbox } from '../sandbox/sandbox.ts';

/**
 * A row of docs/partner-api.md#mcp-errors: how a person causes it, the service's answer to a call of `list_projects`,
 * and what the relay does.
 */
export interface McpError {
  title: string;
  status: number;
  /** The `error` of the challenge. */
  error?: string;
  /** A part of the message. */
  message: string;
  /** The scopes that stay selected on the consent page. */
  scopes?: readonly string[];
  /** The token's resource. Default: the endpoint. */
  resource?: (sandbox: Sandbox) => string;
  /** Whether the token is left out. */
  isWithoutToken?: boolean;
  /** Runs after the account is linked. */
  happens?: (sandbox: Sandbox) => unknown;
  /** The outcome of the relay's call. */
  relay: { says: string; outcome: object };
}

const linkAgain = { says: 'linked again', outcome: { name: 'AccountNeeded', reason: 'not accepted' } };
const operation = '/mcp/partner';

export const mcpErrors: readonly McpError[] = [
  {
    title: '401 invalid_request, no bearer token sent',
    status: 401,
    error: 'invalid_request',
    message: 'bearer token is required',
    isWithoutToken: true,
    relay: {
      says: 'somebody has to put right what removes it',
      outcome: { name: 'InstanceTrouble', message: expect.stringContaining('invalid_request') },
    },
  },
  {
    title: '401 invalid_token, expired',
    status: 401,
    error: 'invalid_token',
    message: 'expired',
    happens: (sandbox) => sandbox.setFault({ kind: 'token-expired', operation, times: 1 }),
    relay: { says: 'refreshed and sent again', outcome: { isError: false } },
  },
  {
    title: '401 invalid_token, revoked',
    status: 401,
    error: 'invalid_token',
    message: 'revoked',
    happens: ({ mcp }) => mcp.revokeGrants(),
    relay: { says: 'refreshed, and after that is refused, linked again', outcome: { name: 'AccountNeeded' } },
  },
  {
    title: '401 invalid_token, no consent',
    status: 401,
    error: 'invalid_token',
    message: 'No consent',
    happens: ({ mcp }) => mcp.withdrawConsent(),
    relay: { says: 'linked again', outcome: { name: 'AccountNeeded' } },
  },
  {
    title: '403 insufficient_scope',
    status: 403,
    error: 'insufficient_scope',
    message: 'mcp:use',
    scopes: ['mcp:projects.read'],
    relay: { says: 'linked again with mcp:use', outcome: { name: 'AccountNeeded', reason: 'scope missing' } },
  },
  {
    title: '403 invalid_token, other audience',
    status: 403,
    error: 'invalid_token',
    message: 'another resource',
    resource: ({ url }) => url,
    relay: linkAgain,
  },
  {
    title: '403 invalid_token, workspace disabled',
    status: 403,
    error: 'invalid_token',
    message: 'disabled',
    happens: ({ mcp }) => mcp.disable(),
    relay: linkAgain,
  },
  {
    title: '403 without its scope',
    status: 403,
    message: 'The tool list_projects needs the scope mcp:projects.read',
    scopes: ['mcp:use', 'mcp:tasks.read'],
    relay: {
      says: 'linked again with the scope that the message names',
      outcome: { name: 'AccountNeeded', reason: 'scope missing', scopes: ['mcp:projects.read'] },
    },
  },
  {
    title: '429 without an error in the challenge',
    status: 429,
    message: 'Rate limit exceeded',
    happens: (sandbox) => sandbox.setFault({ kind: 'rate-limited', operation, retryAfterSeconds: 30 }),
    relay: {
      says: 'waits for the budget, without a failed attempt',
      outcome: { name: 'TryLater', isForBudget: true, at: Date.parse('2026-11-20T10:00:30Z') },
    },
  },
];
