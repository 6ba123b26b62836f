import { codes, McpRefusal, type RequestId } from './mcp-refusal.ts';

/** A request has an id, a notification has none, and a response of the client has no method. */
export interface Message {
  id: RequestId | undefined;
  method: string | undefined;
  params: Readonly<Record<string, unknown>>;
}

/** An error that is answered in JSON-RPC with status 200 (assumed). */
export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export function parseBody(body: Buffer): Message {
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    throw new McpRefusal(400, 'The body is not JSON', { code: codes.parseError });
  }
  if (!isObject(value) || value.jsonrpc !== '2.0') throw invalid('A message must be a JSON-RPC 2.0 object');
  const { id, method, params = {} } = value;
  if (id !== undefined && typeof id !== 'string' && typeof id !== 'number') {
    throw invalid('id must be a string or a number');
  }
  if (method === undefined && !('result' in value) && !('error' in value)) throw invalid('method is required');
  if (method !== undefined && typeof method !== 'string') throw invalid('method must be a string');
  if (!isObject(params)) throw invalid('params must be an object');
  return { id, method, params };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalid(message: string): McpRefusal {
  return new McpRefusal(400, message, { code: codes.invalidRequest });
}
