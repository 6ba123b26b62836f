import { type PartnerError, PartnerRefusal, PartnerUnanswered, PartnerUnreadable } from '../partner/errors.ts';

/** What became of one send, as far as the decision is concerned. */
export type Outcome =
  | 'not sent'
  | 'no answer'
  | 'invalid signature'
  | 'timestamp outside window'
  | 'nonce already used'
  | 'unknown or revoked key'
  | 'unauthorized'
  | 'forbidden'
  | 'not found'
  | 'invalid'
  | 'rate limited'
  | 'server error'
  | 'unreadable';

/**
 * - `sign anew`: once more at once, with a new nonce and timestamp
 * - `retry later`: the same after a pause; a failed attempt
 * - `wait for budget`: nothing of ours failed; the service wants fewer calls
 * - `wait for connection`: it fails as a whole, whatever is called; all its jobs wait for a probe to get through
 * - `same bytes`: send what was signed once more, ahead of other work
 * - `look for it`: nobody will answer any more; search for the marker of what may have been created
 * - `park`: leave it to a person
 */
export type Decision =
  | 'sign anew'
  | 'retry later'
  | 'wait for budget'
  | 'wait for connection'
  | 'same bytes'
  | 'look for it'
  | 'park';

/**
 * What a step is, and what is behind it.
 * - `repeatable`: carrying it out twice does no harm
 * - `creating`: it makes something, and every earlier send of these bytes was clearly refused or never left
 * - `creating, unanswered`: it makes something, and at least one send of these bytes has no clear answer
 */
export type History = 'repeatable' | 'creating' | 'creating, unanswered';

/**
 * The one table that turns an outcome into a decision. Once a creating send went unanswered, no later refusal says
 * anything about it, for nobody knows in which order the service checks.
 */
export const decisions: Readonly<Record<Outcome, Readonly<Record<History, Decision>>>> = {
  'not sent': row('wait for connection', 'wait for connection', 'same bytes'),
  'no answer': row('retry later', 'same bytes', 'same bytes'),
  'invalid signature': row('sign anew', 'sign anew', 'look for it'),
  'timestamp outside window': row('sign anew', 'sign anew', 'look for it'),
  // These bytes arrived before, whoever brought them: a proxy may have sent them twice.
  'nonce already used': row('sign anew', 'look for it', 'look for it'),
  'unknown or revoked key': row('wait for connection', 'wait for connection', 'look for it'),
  unauthorized: row('wait for connection', 'wait for connection', 'look for it'),
  forbidden: row('park', 'park', 'look for it'),
  'not found': row('park', 'park', 'look for it'),
  invalid: row('park', 'park', 'look for it'),
  'rate limited': row('wait for budget', 'wait for budget', 'same bytes'),
  'server error': row('retry later', 'same bytes', 'same bytes'),
  unreadable: row('wait for connection', 'same bytes', 'same bytes'),
};

function row(repeatable: Decision, creating: Decision, unanswered: Decision): Record<History, Decision> {
  return { repeatable, creating, 'creating, unanswered': unanswered };
}

/** The outcome that an error of the partner API stands for. */
export function outcomeOf(error: PartnerError): Outcome {
  if (error instanceof PartnerUnanswered) return error.sent ? 'no answer' : 'not sent';
  // Also where a gateway in front of the service says so, in a page of its own.
  if (error.status === 429) return 'rate limited';
  if (error instanceof PartnerUnreadable) return 'unreadable';
  if (!(error instanceof PartnerRefusal)) return 'invalid';
  if (error.status >= 500) return 'server error';
  if (error.status === 404) return 'not found';
  if (error.status === 403) return 'forbidden';
  if (error.status !== 401) return 'invalid';
  return error.reason === null || error.reason === 'unknown' ? 'unauthorized' : error.reason;
}
