import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type Answer, jsonAnswer } from './answer.ts';
import { parseObject } from './decryption.ts';
import type { Faults } from './faults.ts';
import type { Store } from './store.ts';

/**
 * Returns why a request to a path below /sandbox is refused; undefined if it is allowed. Web pages have no access,
 * neither from their origin nor under their own host name (the Host header). Changes need the sandbox's key.
 */
export function controlRefusal(method: string, headers: IncomingHttpHeaders, controlKey: string): Answer | undefined {
  if (headers.origin !== undefined) return jsonAnswer(403, { error: 'Requests from web pages are not allowed' });
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(headers.host ?? '')) {
    return jsonAnswer(403, { error: 'Use the address 127.0.0.1' });
  }
  if (method === 'GET') return undefined;
  const given = Buffer.from(headers.authorization ?? '');
  const expected = Buffer.from(`Bearer ${controlKey}`);
  if (given.length === expected.length && timingSafeEqual(given, expected)) return undefined;
  return jsonAnswer(401, { error: 'The key of this sandbox is missing; its start printed it' });
}

/** Answers the paths below /sandbox, which the service does not have: plain JSON, neither signed nor rate-limited. */
export function controlAnswer(
  endpoint: string,
  body: string,
  { faults, store }: { faults: Faults; store: Store },
): Answer {
  switch (endpoint) {
    case 'POST /sandbox/faults':
      try {
        faults.set(parseObject(body, 'The body'));
      } catch (error) {
        return jsonAnswer(400, { error: error instanceof Error ? error.message : String(error) });
      }
      return jsonAnswer(201, faults.list());
    case 'GET /sandbox/faults':
      return jsonAnswer(200, faults.list());
    case 'DELETE /sandbox/faults':
      faults.clear();
      return jsonAnswer(200, faults.list());
    case 'GET /sandbox/audit':
      return jsonAnswer(200, store.audit);
    case 'GET /sandbox/data':
      return jsonAnswer(200, store.data);
    default:
      return jsonAnswer(404, { error: `There is no ${endpoint}` });
  }
}
