import {
  type PartnerError,
  PartnerPayloadError,
  PartnerRefusal,
  PartnerUnanswered,
} from '../../service/partner/errors.ts';

/** The outcome of one send, as far as it matters for the decision. */
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
  | 'contradictory'
  | 'rate limited'
  | 'server error'
  | 'unreadable';

/**
 * - `sign again`: retry immediately with a new nonce and timestamp
 * - `retry later`: retry after a pause; counts as a failed attempt, unless the connection turns out to be down
 * - `wait for budget`: not a failure; the service wants fewer calls
 * - `same bytes`: send the same signed request again, ahead of other work
 * - `look for it`: another send can no longer show the outcome; search for the marker of the object
 * - `park`: stop and leave the job to a person
 */
export type Decision = 'sign again' | 'retry later' | 'wait for budget' | 'same bytes' | 'look for it' | 'park';

/**
 * The kind of a step and its history.
 * - `repeatable`: executing it twice is harmless
 * - `creating`: it creates an object, and every earlier send of these bytes was clearly refused or never left
 * - `creating, unanswered`: it creates an object, and at least one send of these bytes has no clear answer
 */
export type History = 'repeatable' | 'creating' | 'creating, unanswered';

/**
 * What a send shows about the operation and the connection, independent of the job.
 * - `works`: they answer normally
 * - `fails`: counts against the breakers of both
 * - `nothing`: no conclusion
 */
export type Evidence = 'works' | 'fails' | 'nothing';

/**
 * The only table that maps outcomes to decisions. After an unanswered send of a creation, a refusal does not reveal the
 * outcome of that send, because the order in which the service checks a request is not known.
 */
export const decisions: Readonly<
  Record<SendOutcome, Readonly<Record<History, Decision> & Record<'evidence', Evidence>>>
> = {
  'not sent': row('retry later', 'retry later', 'same bytes', 'fails'),
  'no answer': row('retry later', 'same bytes', 'same bytes', 'fails'),
  'invalid signature': row('sign again', 'sign again', 'look for it', 'fails'),
  'timestamp outside window': row('sign again', 'sign again', 'look for it', 'fails'),
  // These bytes have already arrived: a proxy may have sent them twice.
  'nonce already used': row('sign again', 'look for it', 'look for it', 'nothing'),
  'unknown or revoked key': row('retry later', 'retry later', 'look for it', 'fails'),
  unauthorized: row('retry later', 'retry later', 'look for it', 'fails'),
  forbidden: row('park', 'park', 'look for it', 'works'),
  'not found': row('park', 'park', 'look for it', 'works'),
  invalid: row('park', 'park', 'look for it', 'works'),
  // A success status with an envelope that says no. The status is what the contract documents.
  contradictory: row('park', 'same bytes', 'same bytes', 'nothing'),
  'rate limited': row('wait for budget', 'wait for budget', 'same bytes', 'nothing'),
  'server error': row('retry later', 'same bytes', 'same bytes', 'fails'),
  unreadable: row('retry later', 'same bytes', 'same bytes', 'fails'),
};

function row(repeatable: Decision, creating: Decision, unanswered: Decision, evidence: Evidence) {
  return { repeatable, creating, 'creating, unanswered': unanswered, evidence };
}

/** True if an outcome shows that this send did not carry the call out. */
export function isRefusal(outcome: SendOutcome): boolean {
  const { creating } = decisions[outcome];
  return creating !== 'same bytes' && creating !== 'look for it';
}

/** A gateway in front of the service gave up waiting for the request or for the service (RFC 9110, section 15.5.9). */
const TIMED_OUT = 408;

/** Maps an error of the partner API to an outcome. */
export function outcomeOf(error: PartnerError): SendOutcome {
  if (error instanceof PartnerUnanswered) return error.sent ? 'no answer' : 'not sent';
  if (error instanceof PartnerPayloadError) return 'invalid';
  // Also applies if a gateway in front of the service answers with its own page.
  if (error.status === 429) return 'rate limited';
  if (!(error instanceof PartnerRefusal)) return 'unreadable';
  if (error.status < 300) return 'contradictory';
  if (error.status >= 500 || error.status === TIMED_OUT) return 'server error';
  if (error.status === 404) return 'not found';
  if (error.status === 403) return 'forbidden';
  if (error.status !== 401) return 'invalid';
  return error.reason === null || error.reason === 'unknown' ? 'unauthorized' : error.reason;
}
