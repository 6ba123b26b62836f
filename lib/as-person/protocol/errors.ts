import type { Challenge } from './oauth/challenge.ts';

/** A request to the MCP endpoint without a result. The subclass and its fields say what happened. */
export abstract class McpError extends Error {
  /** Such as `tools/call`. */
  readonly method: string;
  /** The message without the service's words, which may be about the person who asked. */
  readonly inOwnWords: string;

  constructor(method: string, what: string, { said, ...options }: ErrorOptions & { said?: string | null } = {}) {
    super(`${method}: ${what}${said ? `: ${said}` : ''}`, options);
    this.method = method;
    this.inOwnWords = `${method}: ${what}`;
  }
}

export interface McpRefusalFacts {
  status: number;
  challenge: Challenge | null;
  /** `invalid_request`, `invalid_token` or `insufficient_scope`, from the challenge or the body; otherwise null. */
  error: string | null;
  /** The code of the JSON-RPC error in the body. */
  code: number | null;
  /** The service's own words: one short line. */
  said: string | null;
  /** The header as received. */
  retryAfter: string | null;
}

/** The endpoint refused the request by its HTTP status (docs/partner-api.md#mcp-errors). */
export class McpRefusal extends McpError implements McpRefusalFacts {
  override readonly name = 'McpRefusal';
  declare readonly status: number;
  declare readonly challenge: Challenge | null;
  declare readonly error: string | null;
  declare readonly code: number | null;
  declare readonly said: string | null;
  declare readonly retryAfter: string | null;

  constructor(method: string, facts: McpRefusalFacts) {
    const { status, error, said } = facts;
    // A 5xx is no refusal: the call may have been carried out.
    const answer = `${status >= 500 ? 'the service answers' : 'refused with status'} ${status}`;
    super(method, `${answer}${error === null ? '' : ` (${error})`}`, { said });
    Object.assign(this, facts);
  }
}

/** The endpoint answered with a JSON-RPC error and a success status: an unknown tool, or wrong arguments. */
export class McpRpcError extends McpError {
  override readonly name = 'McpRpcError';
  readonly code: number;
  /** One short line. */
  readonly said: string;
  readonly data: unknown;

  constructor(method: string, error: { code: number; said: string; data: unknown }) {
    super(method, `error ${error.code}`, { said: error.said });
    this.code = error.code;
    this.said = error.said;
    this.data = error.data;
  }
}

/** The answer is neither a result nor a refusal: a web page, a redirect, or an answer beyond the limits. */
export class McpUnreadable extends McpError {
  override readonly name = 'McpUnreadable';
  readonly status: number;

  constructor(method: string, answer: { status: number; found: string }) {
    super(method, `the service answers ${answer.status} (${answer.found})`);
    this.status = answer.status;
  }
}

/** No answer arrived, or its stream ended before the result. */
export class McpUnanswered extends McpError {
  override readonly name = 'McpUnanswered';
  /** False if the request certainly never left: no address, connection or TLS. */
  readonly sent: boolean;

  constructor(method: string, facts: { sent: boolean; why: string; cause?: unknown }) {
    super(method, facts.why, { cause: facts.cause });
    this.sent = facts.sent;
  }
}

/** The service supports no protocol revision of the relay. */
export class McpRevisionError extends McpError {
  override readonly name = 'McpRevisionError';
}
