import { type McpError, McpRefusal, McpRevisionError, McpRpcError, McpUnanswered } from './errors.ts';

/**
 * What became of one request to the MCP endpoint, as far as the decision is concerned. The first eight are the rows of
 * docs/partner-api.md#mcp-errors.
 */
export type ToolOutcome =
  | 'no token seen'
  | 'token expired'
  | 'no consent'
  | 'base scope missing'
  | 'other audience'
  | 'workspace disabled'
  | 'scope missing'
  | 'rate limited'
  | 'not sent'
  | 'no answer'
  | 'server error'
  | 'unreadable'
  | 'rejected'
  | 'no endpoint'
  | 'other revision';

/**
 * - `refresh`: get a newer token and send again, once
 * - `link again`: the person has to link their account again
 * - `link with scope`: the same, with a scope more
 * - `wait for budget`: nothing of ours failed; the service wants fewer calls
 * - `retry later`: a failed attempt; send again after a pause
 * - `outcome unknown`: it may have been carried out, and must not be sent again
 * - `tell`: what was asked for is wrong; the person who asked hears why
 * - `park`: the instance or the relay has to be put right by someone who looks after them
 */
export type ToolDecision =
  | 'refresh'
  | 'link again'
  | 'link with scope'
  | 'wait for budget'
  | 'retry later'
  | 'outcome unknown'
  | 'tell'
  | 'park';

/** `repeatable`: carrying it out twice does no harm. `creating`: it makes something, and MCP has no nonce. */
export type ToolHistory = 'repeatable' | 'creating';

/** The one table that turns an outcome into a decision. */
export const toolDecisions: Readonly<Record<ToolOutcome, Readonly<Record<ToolHistory, ToolDecision>>>> = {
  // The relay always sends one: something in front of the service has removed it.
  'no token seen': both('park'),
  'token expired': both('refresh'),
  'no consent': both('link again'),
  'base scope missing': both('link with scope'),
  'other audience': both('link again'),
  'workspace disabled': both('link again'),
  'scope missing': both('link with scope'),
  'rate limited': both('wait for budget'),
  'not sent': both('retry later'),
  'no answer': { repeatable: 'retry later', creating: 'outcome unknown' },
  'server error': { repeatable: 'retry later', creating: 'outcome unknown' },
  unreadable: { repeatable: 'retry later', creating: 'outcome unknown' },
  rejected: both('tell'),
  'no endpoint': both('park'),
  'other revision': both('park'),
};

function both(decision: ToolDecision): Readonly<Record<ToolHistory, ToolDecision>> {
  return { repeatable: decision, creating: decision };
}

/** True if an outcome shows that the request was not carried out. A refusal comes before a tool is run. */
export const isRefusal = (outcome: ToolOutcome): boolean => toolDecisions[outcome].creating !== 'outcome unknown';

/** The service's own code for too many requests (docs/partner-api.md#mcp-errors). */
const RATE_LIMITED = -32_500;
/** JSON-RPC's codes of a request that was not carried out: not parsed, invalid, unknown method, invalid parameters. */
const NOT_CARRIED_OUT: ReadonlySet<number> = new Set([-32_700, -32_600, -32_601, -32_602]);
/** JSON-RPC's code of a failure of the service itself. It may have come after the work. */
const INTERNAL_ERROR = -32_603;
/** A gateway in front of the service gave up waiting for the request or for the service (RFC 9110, section 15.5.9). */
const TIMED_OUT = 408;

/**
 * The outcome that an error of the MCP endpoint stands for. Two pairs of the contract's rows look the same:
 * an `invalid_token` with 401 means an expired token, unless the token is new, and then a missing consent; with 403 only
 * the words tell an audience from a workspace, and nothing depends on which it is.
 *
 * @param isNew whether the token was given out for this call
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

/** Every request needs it (docs/partner-api.md#mcp-scopes). */
const BASE_SCOPE = 'mcp:use';
const SCOPE = /\bmcp:[a-z]+(?:\.[a-z]+)?\b/g;

/** The scopes that a refusal names: in the challenge, or, as in docs/partner-api.md#mcp-errors, in the message. */
export function missingScopes({ challenge, error, said }: McpRefusal): string[] {
  if (challenge && challenge.scopes.length > 0) return [...challenge.scopes];
  const named = said?.match(SCOPE) ?? [];
  return error === 'insufficient_scope' && named.length === 0 ? [BASE_SCOPE] : [...new Set(named)];
}
