import type { Fault } from '../../sandbox/faults.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { TestClock } from '../relay.ts';

/** The client's own time-out of a call. */
const TIMEOUT_MS = 10_000;

interface Tools {
  /** What is sent, as the sandbox's faults name it. */
  target: Pick<Fault, 'operation' | 'call'>;
  sandbox: Sandbox;
  clock: TestClock;
  /** Keeps a request that has left, to let it arrive when the next one was answered, or at the end. */
  arrivesLater: (arrive: () => Promise<unknown>) => void;
}

type Send = () => Promise<Response>;

/** Once a fault of the sandbox, in the way of one request. */
function fault(fault: Fault) {
  return (send: Send, { sandbox, target }: Tools): Promise<Response> => {
    sandbox.setFault({ ...fault, ...target, times: 1 });
    return send();
  };
}

/** Something in front of the service answers, which hears nothing of the request. */
function gateway(status: number, message: string) {
  return async (): Promise<Response> =>
    new Response(JSON.stringify({ success: false, message }), {
      status,
      headers: { 'content-type': 'application/json' },
    });
}

/** The service as it is with its key changed, for one request. */
function key(change: { secretKey: string } | { scopes: string[] }) {
  return async (send: Send, { sandbox }: Tools): Promise<Response> => {
    const [was] = sandbox.keys;
    if (!was) throw new Error('the sandbox has no key');
    sandbox.keys[0] = { ...was, ...change };
    try {
      return await send();
    } finally {
      sandbox.keys[0] = was;
    }
  };
}

/** As fetch reports AbortSignal.timeout. The ten seconds pass on the relay's clock only: nobody waits for them here. */
function timedOut(clock: TestClock): never {
  clock.now += TIMEOUT_MS;
  throw new DOMException('The operation was aborted due to timeout', 'TimeoutError');
}

/**
 * What can become of one send. Where the sandbox can do it, it does, so that its order of checks counts; 404, 422 and
 * 401 in other words, which docs/partner-api.md#statuses does not have for a creation, come from in front.
 */
const answerings = {
  'as it is': (send: Send) => send(),
  'answer lost after the work': fault({ kind: 'cut', when: 'after work' }),
  'cut on arrival': fault({ kind: 'cut', when: 'on arrival' }),
  'cut before the work': fault({ kind: 'cut', when: 'before work' }),
  '500 on arrival': fault({ kind: 'server-error', when: 'on arrival' }),
  '500 before the work': fault({ kind: 'server-error', when: 'before work' }),
  '500 after the work': fault({ kind: 'server-error', when: 'after work' }),
  'answer slower than the time-out': async (send: Send, { clock }: Tools): Promise<Response> => {
    await send();
    return timedOut(clock);
  },
  'arrival slower than the time-out': async (send: Send, { clock, arrivesLater }: Tools): Promise<Response> => {
    arrivesLater(send);
    return timedOut(clock);
  },
  'maintenance page': fault({ kind: 'maintenance' }),
  'redirect to a login': fault({ kind: 'login-redirect' }),
  'empty body after the work': fault({ kind: 'empty-body' }),
  'no JSON after the work': fault({ kind: 'not-json' }),
  '429': fault({ kind: 'rate-limited', retryAfterSeconds: 7 }),
  '401 invalid signature': key({ secretKey: 'another' }),
  '401 timestamp': fault({ kind: 'clock-skew', seconds: 1_200 }),
  '401 nonce': gateway(401, 'Nonce already used'),
  '401 key': fault({ kind: 'key-revoked' }),
  '401 in other words': gateway(401, 'Who are you?'),
  '403': key({ scopes: [] }),
  '404': gateway(404, 'Not found'),
  '422': gateway(422, 'Unprocessable'),
} satisfies Record<string, (send: Send, tools: Tools) => Promise<Response>>;

export type Answering = keyof typeof answerings;

export const allAnswerings = Object.keys(answerings) as Answering[];

/** Lets one send be answered in a certain way. */
export function answerOperation(answering: Answering, send: Send, tools: Tools): Promise<Response> {
  return answerings[answering](send, tools);
}
