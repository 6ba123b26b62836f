import { isObject } from './json-rpc.ts';
import type { McpRequest } from './request.ts';

/** The names that a fault's `call` can match: the grant_type, or the JSON-RPC method and the tool. */
export function callsIn({ headers, body }: Pick<McpRequest, 'headers' | 'body'>): string[] {
  const text = body.toString('utf8');
  const contentType = String(headers['content-type']);
  if (contentType.includes('urlencoded')) return namesIn(new URLSearchParams(text).get('grant_type'));
  if (!contentType.includes('json')) return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [];
  }
  if (!isObject(value)) return [];
  const params = isObject(value.params) ? value.params : {};
  return namesIn(value.method, value.method === 'tools/call' ? params.name : undefined);
}

function namesIn(...values: unknown[]): string[] {
  return values.filter((value) => typeof value === 'string');
}
