import { type PartnerError, PartnerRefusal, PartnerUnanswered, PartnerUnreadable } from '../partner/errors.ts';

/** What became of one send, as far as the decision is concerned. */
export type SendOutcome =
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
 * - `sign again`: once more at once, with a new nonce and timestamp
 * - `retry later`: the same after a pause; a failed attempt, unless the connection turns out to be down
 * - `wait for budget`: nothing of ours failed; the service wants fewer calls
 * - `same bytes`: send what was signed once more, ahead of other work
 * - `look for it`: another send cannot tell any more; search for the marker of what may have been created
 * - `park`: leave it to a person
 */
export type Decision = 'sign again' | 'retry later' | 'wait for budget' | 'same bytes' | 'look for it' | 'park';

/**
 * What a step is, and what is behind it.
 * - `repeatable`: carrying it out twice does no harm
 * - `creating`: it makes something, and every earlier send of these bytes was clearly refused or never left
 * - `creating, unanswered`: it makes something, and at least one send of these bytes has no clear answer
 */
export type History = 'repeatable' | 'creating' | 'creating, unanswered';

/**
 * What a send tells about the operation and the connection, whatever becomes of the job.
 * - `works`: the operation answers in its right mind
 * - `nothing`: neither the one nor the other
 * - `operation fails`: counts against the operation's breaker
 * - `connection may be down`: the same, unless a probe finds that the connection is down
 */
export type Evidence = 'works' | 'nothing' | 'operation fails' | 'connection may be down';

/**
 * The one table that turns an outcome into a decision. After an unanswered send of a creation, no refusal tells what
 * became of that send, because the order in which the service checks a request is not known.
 */
export const decisions: Readonly<
  Record<SendOutcome, Readonly<Record<History, Decision> & Record<'evidence', Evidence>>>
> = {
  'not sent': row('retry later', 'retry later', 'same bytes', 'connection may be down'),
  'no answer': row('retry later', 'same bytes', 'same bytes', 'operation fails'),
  'invalid signature': row('sign again', 'sign again', 'look for it', 'connection may be down'),
  'timestamp outside window': row('sign again', 'sign again', 'look for it', 'connection may be down'),
  // These bytes arrived before: a proxy may have sent them twice.
  'nonce already used': row('sign again', 'look for it', 'look for it', 'nothing'),
  'unknown or revoked key': row('retry later', 'retry later', 'look for it', 'connection may be down'),
  unauthorized: row('retry later', 'retry later', 'look for it', 'connection may be down'),
  forbidden: row('park', 'park', 'look for it', 'works'),
  'not found': row('park', 'park', 'look for it', 'works'),
  invalid: row('park', 'park', 'look for it', 'works'),
  'rate limited': row('wait for budget', 'wait for budget', 'same bytes', 'nothing'),
  'server error': row('retry later', 'same bytes', 'same bytes', 'operation fails'),
  unreadable: row('retry later', 'same bytes', 'same bytes', 'connection may be down'),
};

function row(repeatable: Decision, creating: Decision, unanswered: Decision, evidence: Evidence) {
  return { repeatable, creating, 'creating, unanswered': unanswered, evidence };
}

/** The outcome that an error of the partner API stands for. */
export function outcomeOf(error: PartnerError): SendOutcome {
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
