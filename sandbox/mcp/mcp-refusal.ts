import { type Answer, jsonAnswer } from '../answer.ts';

export type RequestId = string | number | null;

/** JSON-RPC error codes. Only -32500 is documented; the codes of other refusals are assumed. */
export const codes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  rateLimited: -32500,
  refused: -32001,
  notAcceptable: -32000,
} as const;

interface More {
  /** The `error` of the challenge. "none" in the table means that it is missing. */
  error?: 'invalid_request' | 'invalid_token' | 'insufficient_scope';
  code?: number;
  id?: RequestId;
  /** The scope in the challenge (RFC 6750). */
  scope?: string;
  headers?: Readonly<Record<string, string>>;
}

/** "Every failure carries a WWW-Authenticate header plus a JSON-RPC error body." */
export class McpRefusal extends Error {
  readonly status: number;
  readonly more: More;

  constructor(status: number, message: string, more: More = {}) {
    super(message);
    this.status = status;
    this.more = more;
  }
}

/**
 * Makes the answer. The challenge's parameters besides `error` are assumed.
 *
 * @param metadataUrl of the discovery document (RFC 9728)
 */
export function mcpRefusalAnswer({ status, message, more }: McpRefusal, metadataUrl: string): Answer {
  const parameters = {
    ...(more.error === undefined ? {} : { error: more.error, error_description: message }),
    ...(more.scope === undefined ? {} : { scope: more.scope }),
    resource_metadata: metadataUrl,
  };
  const challenge = Object.entries(parameters).map(([name, value]) => `${name}="${value}"`);
  const body = { jsonrpc: '2.0', id: more.id ?? null, error: { code: more.code ?? codes.refused, message } };
  const answer = jsonAnswer(status, body, message);
  return {
    ...answer,
    headers: { ...answer.headers, 'www-authenticate': `Bearer ${challenge.join(', ')}`, ...more.headers },
  };
}
