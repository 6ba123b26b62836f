/**
 * Why the service refused a caller (interface document, 401 reasons), or `unknown` for a 401 in other words.
 */
export type UnauthorizedReason =
  | 'invalid signature'
  | 'timestamp outside window'
  | 'nonce already used'
  | 'unknown or revoked key'
  | 'unknown';

/** A call to the partner API that did not bring a result. What happened is in the subclass and its fields. */
export abstract class PartnerError extends Error {
  /** `defects/create` */
  readonly operation: string;
  /** The HTTP status of the answer, or null where there was none. */
  abstract readonly status: number | null;
  /** How long the service, or what is in front of it, asks to be left alone. */
  abstract readonly retryAfterSeconds: number | null;

  constructor(operation: string, message: string, options?: ErrorOptions) {
    super(`${operation}: ${message}`, options);
    this.operation = operation;
  }
}

/** What a refusal says, read from the answer. */
export interface RefusalFacts {
  status: number;
  /** The envelope's message, cut to 500 characters, or null where it had none. */
  serviceMessage: string | null;
  /** For a 401, which of the documented reasons. */
  reason: UnauthorizedReason | null;
  /** For `timestamp outside window`: what the service's clock, by its `Date` header, is ahead of ours. */
  clockOffsetSeconds: number | null;
  retryAfterSeconds: number | null;
}

/** The service answered in its own envelope, and said no. */
export class PartnerRefusal extends PartnerError implements RefusalFacts {
  override readonly name = 'PartnerRefusal';
  readonly status: number;
  readonly serviceMessage: string | null;
  readonly reason: UnauthorizedReason | null;
  readonly clockOffsetSeconds: number | null;
  readonly retryAfterSeconds: number | null;

  constructor(operation: string, facts: RefusalFacts) {
    super(operation, `refused with status ${facts.status}${facts.serviceMessage ? `: ${facts.serviceMessage}` : ''}`);
    this.status = facts.status;
    this.serviceMessage = facts.serviceMessage;
    this.reason = facts.reason;
    this.clockOffsetSeconds = facts.clockOffsetSeconds;
    this.retryAfterSeconds = facts.retryAfterSeconds;
  }
}

/** What came instead of the service's envelope. */
export type Unreadable = 'an empty body' | 'an HTML page' | 'a redirect' | 'not JSON' | 'not the documented envelope';

/** Something answered, but not as the service does: a proxy, a maintenance page, a login page. */
export class PartnerUnreadable extends PartnerError {
  override readonly name = 'PartnerUnreadable';
  readonly status: number;
  readonly found: Unreadable;
  readonly retryAfterSeconds: number | null;

  constructor(
    operation: string,
    answer: { status: number; found: Unreadable; detail?: string; retryAfterSeconds?: number | null },
  ) {
    const hint = answer.detail ? ` (${answer.detail})` : '';
    super(operation, `unreadable answer with status ${answer.status}: ${answer.found}${hint}`);
    this.status = answer.status;
    this.found = answer.found;
    this.retryAfterSeconds = answer.retryAfterSeconds ?? null;
  }
}

/** No answer came. */
export class PartnerUnanswered extends PartnerError {
  override readonly name = 'PartnerUnanswered';
  readonly status = null;
  readonly retryAfterSeconds = null;
  /** False where the request certainly never left: no address, no connection, no TLS. */
  readonly sent: boolean;

  constructor(operation: string, facts: { sent: boolean; why: string; cause?: unknown }) {
    super(operation, `no answer: ${facts.why}`, { cause: facts.cause });
    this.sent = facts.sent;
  }
}

/** A payload that its operation does not take. Nothing was sent. */
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
