import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type Answer, jsonAnswer } from './answer.ts';
import { parseObject } from './decryption.ts';
import type { Faults } from './faults.ts';
import { administer } from './mcp/admin-actions.ts';
import type { Administration } from './mcp/administration.ts';
import type { Store } from './store.ts';

/**
 * Why a request to a path below /sandbox is refused; undefined for one that is answered. No web page gets here, neither
 * from its origin nor by an address of its own (the Host header), and what changes something needs the sandbox's key.
 */
export function controlRefusal(method: string, headers: IncomingHttpHeaders, controlKey: string): Answer | undefined {
  if (headers.origin !== undefined) return jsonAnswer(403, { error: 'Web pages may not ask here' });
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(headers.host ?? '')) {
    return jsonAnswer(403, { error: 'Ask at 127.0.0.1' });
  }
  if (method === 'GET') return undefined;
  const given = Buffer.from(headers.authorization ?? '');
  const expected = Buffer.from(`Bearer ${controlKey}`);
  if (given.length === expected.length && timingSafeEqual(given, expected)) return undefined;
  return jsonAnswer(401, { error: 'The key of this sandbox is missing; its start printed it' });
}

export interface Controlled {
  faults: Faults;
  store: Store;
  requests: number;
  mcp: Administration;
}

/** The paths below /sandbox, which are no part of the service: plain JSON, neither signed nor limited. */
export function controlAnswer(endpoint: string, body: string, controlled: Controlled): Answer {
  const { faults, store, requests, mcp } = controlled;
  switch (endpoint) {
    case 'POST /sandbox/faults':
      return changed(
        () => faults.set(parseObject(body, 'The body')),
        201,
        () => faults.list(),
      );
    case 'POST /sandbox/mcp':
      return changed(
        () => administer(mcp, parseObject(body, 'The body')),
        200,
        () => store.data.workspaces,
      );
    case 'GET /sandbox/mcp':
      return jsonAnswer(200, { calls: mcp.calls, audit: mcp.audit });
    case 'GET /sandbox/faults':
      return jsonAnswer(200, faults.list());
    case 'DELETE /sandbox/faults':
      faults.clear();
      return jsonAnswer(200, faults.list());
    case 'GET /sandbox/audit':
      return jsonAnswer(200, store.audit);
    case 'GET /sandbox/data':
      return jsonAnswer(200, store.data);
    case 'GET /sandbox/requests':
      return jsonAnswer(200, { count: requests });
    default:
      return jsonAnswer(404, { error: `There is no ${endpoint}` });
  }
}

/** What is there after a change, or why it is refused. */
function changed(change: () => void, status: number, list: () => object): Answer {
  try {
    change();
  } catch (error) {
    return jsonAnswer(400, { error: error instanceof Error ? error.message : String(error) });
  }
  return jsonAnswer(status, list());
}
