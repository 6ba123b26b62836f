import type { Fault } from '../sandbox/faults.ts';
import type { VirtualClock } from './fuzz/clock.ts';

/** The client's own timeout of a call. */
export const TIMEOUT_MS = 10_000;

/** What a request meets on its way. */
export interface Surroundings {
  clock: VirtualClock;
  /** The service, whose faults and first key can change for one request. */
  service: { faults: { set(fault: Fault): void }; keys: { secretKey: string; scopes: readonly string[] }[] };
  /** The request, in the fields of faults. */
  target: Pick<Fault, 'operation' | 'call'>;
  /** The body of an unexpected answer. */
  hostile?: unknown;
}

type Send = () => Promise<Response>;

/** A single fault of the sandbox, for one request. */
function fault(fault: Fault) {
  return (send: Send, { service, target }: Surroundings): Promise<Response> => {
    service.faults.set({ ...fault, ...target, times: 1 });
    return send();
  };
}

/** The service with a changed key, for one request. */
function key(change: { secretKey: string } | { scopes: string[] }) {
  return async (send: Send, { service: { keys } }: Surroundings): Promise<Response> => {
    const [was] = keys;
    if (!was) throw new Error('the sandbox has no key');
    keys[0] = { ...was, ...change };
    try {
      return await send();
    } finally {
      keys[0] = was;
    }
  };
}

/** A proxy in front of the service answers, and the service gets no request. */
const refused = (status: number, message = 'No', headers: Record<string, string> = {}) => {
  return async (): Promise<Response> => Response.json({ success: false, message }, { status, headers });
};

/** The error that fetch throws for AbortSignal.timeout. The ten seconds pass only on the test's clock. */
async function timeOut({ clock }: Surroundings): Promise<never> {
  await clock.pass(TIMEOUT_MS);
  throw new DOMException('The operation was aborted due to timeout', 'TimeoutError');
}

const passedOnAfter = (seconds: number) => (send: Send, around: Surroundings) => {
  around.clock.later(seconds * 1_000, async () => void (await send()));
  return timeOut(around);
};

/** The request is carried out, and then gets this answer. */
const afterwards =
  (answer: (around: Surroundings) => Promise<Response>) => async (send: Send, around: Surroundings) => {
    await send();
    return answer(around);
  };

const hostile = (status: number) => async (around: Surroundings) => Response.json(around.hostile, { status });

const unreachable = (code: string) => async (): Promise<never> => {
  throw new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) });
};

/** A connection that ends without an answer. */
export const cut = unreachable('ECONNRESET');

/**
 * The possible outcomes of a request on its way to the service and back. Where possible, the sandbox causes them, so
 * that its order of checks counts; a proxy in front of it causes the others.
 */
export const ways = {
  'as it is': (send: Send) => send(),
  'answer lost': afterwards(cut),
  'answer slow': afterwards(timeOut),
  'answered after 9 s': async (send: Send, { clock }: Surroundings) => {
    await clock.pass(9_000);
    return send();
  },
  'passed on after 15 s': passedOnAfter(15),
  'passed on after 45 s': passedOnAfter(45),
  'passed on after 200 s': passedOnAfter(200),
  'passed on twice': async (send: Send) => {
    await send();
    return send();
  },
  'lost on the way': cut,
  'not connected': unreachable('ECONNREFUSED'),
  'cut before the work': fault({ kind: 'cut', when: 'before work' }),
  '500 before the checks': refused(500),
  '500 before the work': fault({ kind: 'server-error', when: 'before work' }),
  '500 after the work': afterwards(refused(500)),
  'maintenance page': fault({ kind: 'maintenance' }),
  'redirect to a login': fault({ kind: 'login-redirect' }),
  'empty body after the work': fault({ kind: 'empty-body' }),
  'no JSON after the work': afterwards(async () => new Response('<html>', { status: 200 })),
  '404 page after the work': afterwards(async () => new Response('<html>', { status: 404 })),
  '429 for 20 s': refused(429, 'No', { 'retry-after': '20' }),
  '429 for 900 s': refused(429, 'No', { 'retry-after': '900' }),
  '401': refused(401),
  '401 signature': key({ secretKey: 'another' }),
  '401 timestamp': fault({ kind: 'clock-skew', seconds: 1_200 }),
  '401 nonce': refused(401, 'Nonce already used'),
  '401 key': fault({ kind: 'key-revoked' }),
  '403': refused(403),
  '403 scope': key({ scopes: [] }),
  '404': refused(404),
  '422': refused(422),
  'hostile 201': afterwards(hostile(201)),
  'hostile 400': (_: Send, around: Surroundings) => hostile(400)(around),
  'hostile 500 after the work': afterwards(hostile(500)),
} satisfies Record<string, (send: Send, around: Surroundings) => Promise<Response>>;

export type Way = keyof typeof ways;

export const everyWay = Object.keys(ways) as Way[];
