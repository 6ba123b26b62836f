/**
 * The service's reason for refusing a caller (docs/partner-api.md#401-reasons), or `unknown` for a 401 in other words.
 */
export type UnauthorizedReason =
  | 'invalid signature'
  | 'timestamp outside window'
  | 'nonce already used'
  | 'unknown or revoked key'
  | 'unknown';

/** A call to the partner API that returned no result. The subclass and its fields say why. */
export abstract class PartnerError extends Error {
  /** Such as `defects/create`. */
  readonly operation: string;
  /** The HTTP status of the answer, or null if there was no answer. */
  abstract readonly status: number | null;
  /** How many seconds the service, or a proxy in front of it, asks the relay to wait. */
  abstract readonly retryAfterSeconds: number | null;

  constructor(operation: string, message: string, options?: ErrorOptions) {
    super(`${operation}: ${message}`, options);
    this.operation = operation;
  }
}

/** The kind of a body that is not the service's envelope. */
export type NotEnvelope = 'an empty body' | 'an HTML page' | 'not JSON' | 'not the documented envelope';

/** The details of a refusal, read from the answer. */
export interface RefusalFacts {
  status: number;
  /**
   * The kind of the body, or null for the service's own envelope. Other bodies may come from a proxy in front of the
   * service, or from a service with another error format, because the fields of error bodies are not shown.
   */
  found: NotEnvelope | null;
  /** One line of plain text, cut to 500 characters, or null if the body had none. */
  serviceMessage: string | null;
  /** Faults of single fields from the body, as plain text: `title: is required`. At most 10, of 120 characters each. */
  fieldErrors: readonly string[];
  /** For a 401: the documented reason. */
  reason: UnauthorizedReason | null;
  /** For `timestamp outside window`: how far the service's clock (its `Date` header) is ahead of ours. */
  clockOffsetSeconds: number | null;
  retryAfterSeconds: number | null;
}

/** The service refused the call: with a status that docs/partner-api.md#statuses lists, or in its own envelope. */
export class PartnerRefusal extends PartnerError implements RefusalFacts {
  override readonly name = 'PartnerRefusal';
  declare readonly status: number;
  declare readonly found: NotEnvelope | null;
  declare readonly serviceMessage: string | null;
  declare readonly fieldErrors: readonly string[];
  declare readonly reason: UnauthorizedReason | null;
  declare readonly clockOffsetSeconds: number | null;
  declare readonly retryAfterSeconds: number | null;

  constructor(operation: string, facts: RefusalFacts) {
    super(operation, refusalText(facts));
    Object.assign(this, facts);
  }
}

export const WRONG_ADDRESS = 'the address answers 404 with a web page or other text';

/**
 * True for a 404 with a web page or another text. It refuses nothing: the base URL is wrong, or a proxy does not pass on
 * the request or the answer.
 */
export const isWrongAddress = ({ status, found }: RefusalFacts) =>
  status === 404 && (found === 'an HTML page' || found === 'not JSON');

function refusalText(facts: RefusalFacts): string {
  const { status, found, serviceMessage, fieldErrors, reason } = facts;
  if (isWrongAddress(facts))
    return `${WRONG_ADDRESS}; check the connection's base URL, or the proxy in front of the service`;
  const said = [serviceMessage, fieldErrors.length > 0 ? `(${fieldErrors.join('; ')})` : null].filter(Boolean);
  const arrived = 'the same request had already arrived, so the service answers';
  // A 5xx refuses nothing, because the call may have been carried out.
  const begin =
    reason === 'nonce already used' ? arrived : status >= 500 ? 'the service answers' : 'refused with status';
  const answer = `${begin} ${status}`;
  if (said.length > 0) return `${answer}: ${said.join(' ')}`;
  return found === null ? answer : `${answer} (${foundInWords(status, found)})`;
}

/** Describes the body. A 503 with an HTML page comes from a balancer or operator while the service is being changed. */
const foundInWords = (status: number, found: Unreadable) =>
  status === 503 && found === 'an HTML page' ? 'a maintenance page' : found;

/**
 * The kind of an answer without a result. `other data than declared` came in the service's own envelope: the call
 * succeeded, and only this operation's declaration or its override in relay.config.ts is wrong.
 */
export type Unreadable = NotEnvelope | 'a body that is too large' | 'a redirect' | 'other data than declared';

/**
 * An answer that is neither a result nor a refusal: a success status without the envelope, a redirect, or a status that
 * docs/partner-api.md#statuses does not list, such as a proxy's 503 page.
 */
export class PartnerUnreadable extends PartnerError {
  override readonly name = 'PartnerUnreadable';
  readonly status: number;
  readonly found: Unreadable;
  readonly retryAfterSeconds: number | null;

  constructor(
    operation: string,
    answer: { status: number; found: Unreadable; detail?: string; retryAfterSeconds?: number | null },
  ) {
    const { status, found } = answer;
    const what = `${foundInWords(status, found)}${answer.detail ? `: ${answer.detail}` : ''}`;
    super(operation, status < 300 ? `the answer (${status}) is ${what}` : `the service answers ${status} (${what})`);
    this.status = answer.status;
    this.found = answer.found;
    this.retryAfterSeconds = answer.retryAfterSeconds ?? null;
  }
}

export class PartnerUnanswered extends PartnerError {
  override readonly name = 'PartnerUnanswered';
  readonly status = null;
  readonly retryAfterSeconds = null;
  /** False only if the request certainly never left: no address, no connection or no TLS. */
  readonly sent: boolean;

  constructor(operation: string, facts: { sent: boolean; why: string; cause?: unknown }) {
    super(operation, facts.why, { cause: facts.cause });
    this.sent = facts.sent;
  }
}

/** A payload that the operation does not accept. Nothing was sent. */
export class PartnerPayloadError extends PartnerError {
  override readonly name = 'PartnerPayloadError';
  readonly status = null;
  readonly retryAfterSeconds = null;
  /** One line for each fault: `title: expected string`. */
  readonly faults: readonly string[];

  constructor(operation: string, faults: readonly string[]) {
    super(operation, `the payload does not fit: ${faults.join('; ')}`);
    this.faults = faults;
  }
}

/** Returns how far a failed call got. An error that is not from the call itself counts as no answer. */
export function reachedBy(error: unknown): 'never left' | 'answered' | 'no answer' {
  if (error instanceof PartnerPayloadError) return 'never left';
  if (error instanceof PartnerUnanswered && !error.sent) return 'never left';
  return error instanceof PartnerError && error.status !== null ? 'answered' : 'no answer';
}
