import type { ToolOutcome } from '../../decide.ts';
import { type McpError, McpRefusal, McpRevisionError, McpRpcError, McpUnanswered } from './errors.ts';
import { scopesIn } from './oauth/scopes.ts';

/** The service's own code for too many requests (docs/partner-api.md#mcp-errors). */
const RATE_LIMITED = -32_500;
/** JSON-RPC codes of requests that were not carried out: not parsed, invalid, unknown method, invalid parameters. */
const NOT_CARRIED_OUT: ReadonlySet<number> = new Set([-32_700, -32_600, -32_601, -32_602]);
/** JSON-RPC's code for a failure of the service itself, possibly after the work was done. */
const INTERNAL_ERROR = -32_603;
/** A gateway in front of the service stopped waiting for the request or the service (RFC 9110, section 15.5.9). */
const TIMED_OUT = 408;

/**
 * Returns the outcome of an error of the MCP endpoint. Two pairs of rows of the contract look the same: an
 * `invalid_token` with 401 means an expired token, or, for a new token, a missing consent. With 403, only the message
 * distinguishes audience from workspace, which makes no difference.
 *
 * @param isNew true if the token was issued for this call
 */
export function toolOutcome(error: McpError, isNew: boolean): ToolOutcome {
  if (error instanceof McpUnanswered) return error.sent ? 'no answer' : 'not sent';
  if (error instanceof McpRevisionError) return 'other revision';
  if (error instanceof McpRpcError) {
    if (error.code === RATE_LIMITED) return 'rate limited';
    return NOT_CARRIED_OUT.has(error.code) ? 'rejected' : 'server error';
  }
  if (!(error instanceof McpRefusal)) return 'unreadable';
  const { status } = error;
  if (status === 429 || error.code === RATE_LIMITED) return 'rate limited';
  if (status >= 500 || status === TIMED_OUT || error.code === INTERNAL_ERROR) return 'server error';
  if (status === 404) return 'no endpoint';
  if (status === 401) {
    if (error.error === 'invalid_request') return 'no token seen';
    return isNew ? 'no consent' : 'token expired';
  }
  if (status !== 403) return 'rejected';
  const missing = missingScopes(error);
  if (error.error === 'insufficient_scope') {
    return missing.every((scope) => scope === BASE_SCOPE) ? 'base scope missing' : 'scope missing';
  }
  if (error.error === 'invalid_token')
    return /audience/i.test(error.said ?? '') ? 'other audience' : 'workspace disabled';
  return missing.length > 0 ? 'scope missing' : 'rejected';
}

/** Required by every request (docs/partner-api.md#mcp-scopes). */
const BASE_SCOPE = 'mcp:use';

/** The scopes that a refusal names in its challenge, or in its message as in docs/partner-api.md#mcp-errors. */
export function missingScopes({ challenge, error, said }: McpRefusal): string[] {
  if (challenge && challenge.scopes.length > 0) return [...challenge.scopes];
  const named = scopesIn(said ?? '');
  return error === 'insufficient_scope' && named.length === 0 ? [BASE_SCOPE] : named;
}
