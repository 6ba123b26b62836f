import { type Answer, jsonAnswer } from './answer.ts';
import { parseObject } from './decryption.ts';
import type { Faults } from './faults.ts';
import type { Store } from './store.ts';

/** The paths below /sandbox, which are no part of the service: plain JSON, neither signed nor limited. */
export function controlAnswer(endpoint: string, body: string, faults: Faults, store: Store, requests: number): Answer {
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
    case 'GET /sandbox/requests':
      return jsonAnswer(200, { count: requests });
    default:
      return jsonAnswer(404, { error: `There is no ${endpoint}` });
  }
}
