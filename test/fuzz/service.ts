import type { IncomingHttpHeaders } from 'node:http';
import { checkOrders } from '../../sandbox/checks.ts';
import { Faults } from '../../sandbox/faults.ts';
import { Nonces } from '../../sandbox/nonces.ts';
import { answerPartner, type Service as SandboxService } from '../../sandbox/partner-api.ts';
import { RateLimiter } from '../../sandbox/rate-limit.ts';
import type { Data } from '../../sandbox/records.ts';
import { routesByPath } from '../../sandbox/routes.ts';
import { defaultKey } from '../../sandbox/sandbox.ts';
import { Store } from '../../sandbox/store.ts';
import type { VirtualClock } from './clock.ts';

export const SERVICE_URL = 'https://pm.example';
const PATH = '/api/v1/partner';

/** The client's own time-out of a call. */
const TIMEOUT_MS = 10_000;

const deep = (): unknown => JSON.parse(`${'{"message":'.repeat(5_000)}1${'}'.repeat(5_000)}`);

/** Bodies of errors that nobody expects. */
const hostileBodies = [
  { success: false, message: { toString: 1 } },
  { success: false, message: [[]], errors: { __proto__: null } },
  deep(),
  [],
  null,
  'a text',
  7,
];

/** What can become of a request on its way to the service and back. */
export const ways = [
  'answer lost',
  'answer slow',
  'passed on after 15 s',
  'passed on after 45 s',
  'passed on after 200 s',
  'passed on twice',
  'lost on the way',
  'not connected',
  '500 before the work',
  '500 after the work',
  '429 for 20 s',
  '429 for 900 s',
  '401',
  '403',
  '404',
  '422',
  'hostile 500 after the work',
  'hostile 400',
  'hostile 201',
  'no JSON after the work',
] as const;
export type Way = (typeof ways)[number];

/** A way that the next request of these operations goes. */
export interface Detour {
  to: 'defects/create' | 'defects/update' | 'defects/list' | 'anything';
  way: Way;
  /** Which of the hostile bodies. */
  body: number;
}

/** The sandbox in this process, without sockets, and what stands between the relay and it. */
export class Service {
  readonly data: Data;
  readonly #detours: Detour[] = [];
  readonly #clock: VirtualClock;
  readonly #sandbox: SandboxService;

  constructor(clock: VirtualClock) {
    const store = new Store();
    const read = () => clock.now;
    this.#clock = clock;
    this.data = store.data;
    this.#sandbox = {
      store,
      nonces: new Nonces(store, read),
      limiter: new RateLimiter({ perMinute: 1e9, perDay: 1e9 }),
      faults: new Faults(),
      keys: [defaultKey],
      routes: routesByPath({}),
      clock: read,
      sleep: async () => {},
      checkOrder: checkOrders[0] ?? [],
      nonceMoment: 'after signature',
      tellsRetryAfter: false,
      paginatesAll: true,
    };
  }

  divert(detour: Detour): void {
    this.#detours.push(detour);
  }

  clearDetours(): void {
    this.#detours.length = 0;
  }

  /** @throws {TypeError | DOMException} as fetch does */
  async fetch(url: URL, { headers, body }: RequestInit): Promise<Response> {
    const operation = url.pathname.slice(PATH.length);
    const at = this.#detours.findIndex(({ to }) => to === 'anything' || `/${to}` === operation);
    const [detour] = at === -1 ? [] : this.#detours.splice(at, 1);
    const request = {
      method: 'POST',
      path: url.pathname,
      operation,
      ip: '127.0.0.1',
      headers: Object.fromEntries(new Headers(headers)) as IncomingHttpHeaders,
      body: Buffer.from(String(body)),
    };
    const carryOut = async (): Promise<Response> => {
      const answer = await answerPartner(this.#sandbox, request);
      if (!answer) throw new Error('the sandbox answered in a way that is not asked for');
      return new Response(answer.body, { status: answer.status, headers: answer.headers as Record<string, string> });
    };
    return detour ? this.#travel(detour, carryOut) : carryOut();
  }

  async #travel({ way, body }: Detour, carryOut: () => Promise<Response>): Promise<Response> {
    const hostile = hostileBodies[body % hostileBodies.length];
    const [, seconds] = /^passed on after (\d+) s$/.exec(way) ?? [];
    if (seconds !== undefined) {
      this.#clock.later(Number(seconds) * 1_000, async () => void (await carryOut()));
      return this.#timeOut();
    }
    switch (way) {
      case 'answer lost':
        await carryOut();
        throw cut();
      case 'answer slow':
        await carryOut();
        return this.#timeOut();
      case 'passed on twice':
        await carryOut();
        return carryOut();
      case 'lost on the way':
        throw cut();
      case 'not connected':
        throw new TypeError('fetch failed', { cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) });
      case '500 after the work':
        await carryOut();
        return refusal(500);
      case 'hostile 500 after the work':
        await carryOut();
        return Response.json(hostile, { status: 500 });
      case 'hostile 400':
        return Response.json(hostile, { status: 400 });
      case 'hostile 201':
        await carryOut();
        return Response.json(hostile, { status: 201 });
      case 'no JSON after the work':
        await carryOut();
        return new Response('<html>', { status: 200 });
      default: {
        const [, status = '', retryAfter] = /^(\d+)(?: for (\d+) s)?/.exec(way) ?? [];
        return refusal(Number(status), retryAfter === undefined ? {} : { 'retry-after': retryAfter });
      }
    }
  }

  async #timeOut(): Promise<never> {
    await this.#clock.pass(TIMEOUT_MS);
    throw new DOMException('The operation was aborted due to timeout', 'TimeoutError');
  }
}

const refusal = (status: number, headers: Record<string, string> = {}) =>
  Response.json({ success: false, message: 'No' }, { status, headers });

const cut = () => new TypeError('fetch failed', { cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) });
