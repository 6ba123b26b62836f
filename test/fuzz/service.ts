import type { IncomingHttpHeaders } from 'node:http';
import { checkOrders } from '../../sandbox/checks.ts';
import { decryptPayload } from '../../sandbox/decryption.ts';
import { Faults } from '../../sandbox/faults.ts';
import { Nonces } from '../../sandbox/nonces.ts';
import { answerPartner, type Service as SandboxService } from '../../sandbox/partner-api.ts';
import { RateLimiter } from '../../sandbox/rate-limit.ts';
import type { Data } from '../../sandbox/records.ts';
import { routesByPath } from '../../sandbox/routes.ts';
import { defaultKey } from '../../sandbox/sandbox.ts';
import { Store } from '../../sandbox/store.ts';
import { type Counting, ServiceModel } from '../service/budget/service-model.ts';
import type { VirtualClock } from './clock.ts';
import { Process } from './process.ts';

export const SERVICE_URL = 'https://pm.example';
const PATH = '/api/v1/partner';

/** The client's own time-out of a call. */
const TIMEOUT_MS = 10_000;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/**
 * The same bytes are sent for four minutes (docs/exactly-once.md#how), after a wait for the slot of up to eight seconds,
 * by clocks that are wrong by up to 0.4 s.
 */
const LONGEST_RESENT_MS = 4 * MINUTE_MS + 10_000;

/** What the service allows, and how it counts. */
export interface Limits {
  perMinute: number;
  perDay: number;
  counting: Counting;
}

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
  'answered after 9 s',
] as const;
export type Way = (typeof ways)[number];

export const destinations = [
  'defects/create',
  'defects/update',
  'defects/list',
  'defects/link',
  'work-items/checklist/items/complete',
  'test-scenarios/update',
  'anything',
] as const;

/** A way that the next request of these operations goes. */
export interface Detour {
  to: (typeof destinations)[number];
  way: Way;
  /** Which of the hostile bodies. */
  body: number;
}

/** The sandbox in this process, without sockets, and what stands between the relay and it. */
export class Service {
  readonly data: Data;
  /** What the relay should not have sent. */
  readonly wrong: string[] = [];
  /** The payloads of the links that were made. */
  readonly linked: string[] = [];
  /** The operations that were refused. */
  readonly refused = new Set<string>();
  readonly #limits: Limits;
  readonly #limiter: ServiceModel;
  /** When the calls came of which the relay could know. */
  readonly #calls: number[] = [];
  readonly #detours: Detour[] = [];
  readonly #clock: VirtualClock;
  readonly #sandbox: SandboxService;

  constructor(clock: VirtualClock, limits: Limits) {
    this.#limits = limits;
    const { perMinute, perDay, counting } = limits;
    this.#limiter = new ServiceModel(counting, [
      { lengthMs: MINUTE_MS, most: perMinute },
      { lengthMs: DAY_MS, most: perDay },
    ]);
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
  async fetch(url: URL, { headers, body }: RequestInit, sentAt: number): Promise<Response> {
    const operation = url.pathname.slice(PATH.length);
    const signedAt = Number(new Headers(headers).get('x-timestamp')) * 1_000;
    if (sentAt > signedAt + LONGEST_RESENT_MS) {
      this.wrong.push(`${operation} is sent ${Math.round((sentAt - signedAt) / 1_000)} s after it was signed`);
    }
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
    const sender = Process.current();
    let isCopy = false;
    const carryOut = async (): Promise<Response> => {
      // What a gateway sends twice is counted once, or its own copy could be refused for the first one's sake.
      if (!isCopy && !this.#count(operation, sentAt, sender)) return refusal(429);
      isCopy = true;
      const answer = await answerPartner(this.#sandbox, request);
      if (!answer) throw new Error('the sandbox answered in a way that is not asked for');
      if (operation === '/defects/link' && answer.status === 200) {
        this.linked.push(JSON.stringify(decryptPayload(request.body, defaultKey.secretKey)));
      }
      return new Response(answer.body, { status: answer.status, headers: answer.headers as Record<string, string> });
    };
    return detour ? this.#travel(operation, detour, carryOut) : carryOut();
  }

  /** How many calls of which the relay could know count now, however the service counts. */
  used(): { minute: number; day: number } {
    const since = (ms: number) => this.#calls.filter((at) => at > this.#clock.now - ms).length;
    return { minute: since(MINUTE_MS), day: since(DAY_MS) };
  }

  /** @returns whether the service takes the call */
  #count(operation: string, sentAt: number, sender: Process | undefined): boolean {
    const { now } = this.#clock;
    // The relay counts a call without an answer for another minute: docs/decisions/0008-exact-budget.md. A process that
    // has stopped could not note that its call got no answer.
    if (now - sentAt <= TIMEOUT_MS + (sender?.isStopped ? 0 : MINUTE_MS)) {
      this.#calls.push(now);
      const { minute, day } = this.used();
      const { perMinute, perDay } = this.#limits;
      if (minute > perMinute || day > perDay) {
        this.wrong.push(`${operation} is call ${minute} of ${perMinute} in a minute, and ${day} of ${perDay} in a day`);
      }
    }
    return this.#limiter.request(now);
  }

  async #travel(operation: string, { way, body }: Detour, carryOut: () => Promise<Response>): Promise<Response> {
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
        this.refused.add(operation);
        return Response.json(hostile, { status: 400 });
      case 'hostile 201':
        await carryOut();
        return Response.json(hostile, { status: 201 });
      case 'no JSON after the work':
        await carryOut();
        return new Response('<html>', { status: 200 });
      case 'answered after 9 s':
        await this.#clock.pass(9_000);
        return carryOut();
      default: {
        this.refused.add(operation);
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
