/** The outcome of one send to the partner API, with the differences that decisions depend on. */
export type SendOutcome =
  | CommonOutcome
  | 'invalid signature'
  | 'timestamp outside window'
  | 'nonce already used'
  | 'unknown or revoked key'
  | 'unauthorized'
  | 'forbidden'
  | 'not found'
  | 'invalid'
  | 'contradictory';

/** The outcome of a request to the MCP endpoint. The refusals are the rows of docs/partner-api.md#mcp-errors. */
export type ToolOutcome =
  | CommonOutcome
  | 'no token seen'
  | 'token expired'
  | 'no consent'
  | 'base scope missing'
  | 'other audience'
  | 'workspace disabled'
  | 'scope missing'
  | 'rejected'
  | 'no endpoint'
  | 'other revision';

type CommonOutcome = 'not sent' | 'no answer' | 'rate limited' | 'server error' | 'unreadable';

/**
 * - `retry later`: retry after a pause; counts as a failed attempt, unless the connection turns out to be down
 * - `wait for budget`: not a failure; the service wants fewer calls
 * - `look for it`: another send cannot show the outcome, or is not allowed; search for the object
 * - `park`: stop, and leave the job to a person who looks after the relay or the instance
 */
type CommonDecision = 'retry later' | 'wait for budget' | 'look for it' | 'park';

/**
 * - `sign again`: retry immediately with a new nonce and timestamp
 * - `same bytes`: send the same signed request again, ahead of other work
 */
export type Decision = CommonDecision | 'sign again' | 'same bytes';

/**
 * - `refresh`: get a newer token and send again, once
 * - `link again`: the person has to link their account again
 * - `link with scope`: the same, with one more scope
 * - `tell`: the request is wrong; tell the person who asked why
 */
export type ToolDecision = CommonDecision | 'refresh' | 'link again' | 'link with scope' | 'tell';

/**
 * The kind of a call to the partner API, and its history.
 * - `repeatable`: executing it twice is harmless
 * - `creating`: it creates an object, and every earlier send of these bytes was clearly refused or never left
 * - `creating, unanswered`: it creates an object, and at least one send of these bytes has no clear answer
 */
type History = 'repeatable' | 'creating' | 'creating, unanswered';

/** The kind of a call to the MCP endpoint. A `sent once` call may create something, and MCP has no nonce. */
export type ToolHistory = 'repeatable' | 'sent once';

/**
 * The evidence of a send about the operation and the connection, independent of the job. The MCP endpoint has no
 * breakers.
 * - `works`: they answer normally
 * - `fails`: counts against the breakers of both
 * - `nothing`: no conclusion
 */
export type Evidence = 'works' | 'fails' | 'nothing';

type PartnerRow = Readonly<Record<History, Decision> & { evidence: Evidence }>;
type ToolRow = Readonly<Record<ToolHistory, ToolDecision>>;

/**
 * The only table that maps outcomes to decisions. After an unanswered send of a creation, a refusal does not show the
 * outcome of that send, because the order of the service's checks is unknown.
 */
export const decisions: Readonly<Record<SendOutcome, PartnerRow> & Record<ToolOutcome, ToolRow>> = {
  'not sent': { ...row('retry later', 'retry later', 'same bytes', 'fails'), 'sent once': 'retry later' },
  'no answer': { ...row('retry later', 'same bytes', 'same bytes', 'fails'), 'sent once': 'look for it' },
  'rate limited': {
    ...row('wait for budget', 'wait for budget', 'same bytes', 'nothing'),
    'sent once': 'wait for budget',
  },
  'server error': { ...row('retry later', 'same bytes', 'same bytes', 'fails'), 'sent once': 'look for it' },
  unreadable: { ...row('retry later', 'same bytes', 'same bytes', 'fails'), 'sent once': 'look for it' },

  'invalid signature': row('sign again', 'sign again', 'look for it', 'fails'),
  'timestamp outside window': row('sign again', 'sign again', 'look for it', 'fails'),
  // These bytes have arrived before, perhaps because a proxy sent them twice.
  'nonce already used': row('sign again', 'look for it', 'look for it', 'nothing'),
  'unknown or revoked key': row('retry later', 'retry later', 'look for it', 'fails'),
  unauthorized: row('retry later', 'retry later', 'look for it', 'fails'),
  forbidden: row('park', 'park', 'look for it', 'works'),
  'not found': row('park', 'park', 'look for it', 'works'),
  invalid: row('park', 'park', 'look for it', 'works'),
  // A success status whose envelope reports a failure. The contract documents the status.
  contradictory: row('park', 'same bytes', 'same bytes', 'nothing'),

  // The relay always sends a token, so something in front of the service has removed it.
  'no token seen': refusal('park'),
  'token expired': refusal('refresh'),
  'no consent': refusal('link again'),
  'base scope missing': refusal('link with scope'),
  'other audience': refusal('link again'),
  'workspace disabled': refusal('link again'),
  'scope missing': refusal('link with scope'),
  rejected: refusal('tell'),
  'no endpoint': refusal('park'),
  'other revision': refusal('park'),
};

function row<Repeatable extends Decision>(
  repeatable: Repeatable,
  creating: Decision,
  unanswered: Decision,
  evidence: Evidence,
) {
  return { repeatable, creating, 'creating, unanswered': unanswered, evidence };
}

/** The endpoint refuses before it runs a tool, so the call's history does not matter. */
function refusal(decision: ToolDecision): ToolRow {
  return { repeatable: decision, 'sent once': decision };
}

/** True if an outcome shows that this send did not carry the call out. */
export function isRefusal(outcome: SendOutcome | ToolOutcome): boolean {
  const row: PartnerRow | ToolRow = decisions[outcome];
  const decision = 'creating' in row ? row.creating : row['sent once'];
  return decision !== 'same bytes' && decision !== 'look for it';
}
