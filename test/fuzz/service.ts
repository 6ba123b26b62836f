import { decryptPayload } from '../../sandbox/decryption.ts';
import type { Data } from '../../sandbox/records.ts';
import { createSandbox, defaultKey } from '../../sandbox/sandbox.ts';
import { type Counting, ServiceModel } from '../service/budget/service-model.ts';
import { TIMEOUT_MS, type Way, ways } from '../ways.ts';
import type { VirtualClock } from './clock.ts';
import { Process } from './process.ts';

export const SERVICE_URL = 'https://pm.example';
const PATH = '/api/v1/partner';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/**
 * The relay sends the same bytes for four minutes (docs/exactly-once.md#how), after a wait for the slot of up to eight
 * seconds. Clocks are wrong by up to 0.4 s.
 */
const LONGEST_RESENT_MS = 4 * MINUTE_MS + 10_000;

/** The service's limits, and its way to count. */
export interface Limits {
  perMinute: number;
  perDay: number;
  counting: Counting;
}

const deep = (): unknown => JSON.parse(`${'{"message":'.repeat(5_000)}1${'}'.repeat(5_000)}`);

/** Unexpected bodies of errors. */
const hostileBodies = [
  { success: false, message: { toString: 1 } },
  { success: false, message: [[]], errors: { __proto__: null } },
  deep(),
  [],
  null,
  'a text',
  7,
];

export const destinations = [
  'defects/create',
  'defects/update',
  'defects/list',
  'defects/link',
  'work-items/checklist/items/complete',
  'test-scenarios/update',
  'anything',
] as const;

/** The outcome of the next request to these operations. */
export interface Detour {
  to: (typeof destinations)[number];
  way: Way;
  /** The number of the hostile body. */
  body: number;
}

/** The sandbox in this process, without sockets, and the troubles between it and the relay. */
export class Service {
  readonly data: Data;
  /** Mistakes in the relay's requests. */
  readonly wrong: string[] = [];
  /** The payloads of links that were made. */
  readonly linked: string[] = [];
  /** The refused operations. */
  readonly refused = new Set<string>();
  readonly #limits: Limits;
  readonly #limiter: ServiceModel;
  /** The times of the calls that the relay could know of. */
  readonly #calls: number[] = [];
  readonly #detours: Detour[] = [];
  readonly #clock: VirtualClock;
  readonly #service: ReturnType<typeof createSandbox>;

  constructor(clock: VirtualClock, limits: Limits) {
    this.#limits = limits;
    const { perMinute, perDay, counting } = limits;
    this.#limiter = new ServiceModel(counting, [
      { lengthMs: MINUTE_MS, most: perMinute },
      { lengthMs: DAY_MS, most: perDay },
    ]);
    this.#clock = clock;
    const rateLimit = { perMinute: 1e9, perDay: 1e9 };
    this.#service = createSandbox({ clock: () => clock.now, rateLimit }, () => SERVICE_URL);
    this.data = this.#service.sandbox.data;
  }

  divert(detour: Detour): void {
    this.#detours.push(detour);
  }

  clearDetours(): void {
    this.#detours.length = 0;
  }

  /** @throws {TypeError | DOMException} as fetch does */
  async fetch(url: URL, init: RequestInit, sentAt: number): Promise<Response> {
    const operation = url.pathname.slice(PATH.length);
    const signedAt = Number(new Headers(init.headers).get('x-timestamp')) * 1_000;
    if (sentAt > signedAt + LONGEST_RESENT_MS) {
      this.wrong.push(`${operation} is sent ${Math.round((sentAt - signedAt) / 1_000)} s after it was signed`);
    }
    const at = this.#detours.findIndex(({ to }) => to === 'anything' || `/${to}` === operation);
    const [detour] = at === -1 ? [] : this.#detours.splice(at, 1);
    const sender = Process.current();
    let isCopy = false;
    const carryOut = async (): Promise<Response> => {
      // The copy of a request that a gateway sends twice does not count. Otherwise, the limit could refuse it because
      // of the first.
      if (!isCopy && !this.#count(operation, sentAt, sender)) return Response.json({}, { status: 429 });
      isCopy = true;
      const answer = await this.#service.fetch(url, init);
      if (operation === '/defects/link' && answer.status === 200) {
        this.linked.push(JSON.stringify(decryptPayload(Buffer.from(String(init.body)), defaultKey.secretKey)));
      }
      return answer;
    };
    if (!detour) return carryOut();
    if (isRefusal(detour.way)) this.refused.add(operation);
    const hostile = hostileBodies[detour.body % hostileBodies.length];
    const around = { clock: this.#clock, service: this.#service.sandbox, target: { operation }, hostile };
    return ways[detour.way](carryOut, around);
  }

  /** How many calls that the relay could know of count now, at most, whatever the service's way to count. */
  used(): { minute: number; day: number } {
    const since = (ms: number) => this.#calls.filter((at) => at > this.#clock.now - ms).length;
    return { minute: since(MINUTE_MS), day: since(DAY_MS) };
  }

  /** @returns whether the service accepts the call */
  #count(operation: string, sentAt: number, sender: Process | undefined): boolean {
    const { now } = this.#clock;
    // The relay counts a call without an answer for another minute: docs/decisions/0008-exact-budget.md. A stopped
    // process could not note that its call got no answer.
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
}

/** Outcomes in which the service does not do the work. */
const isRefusal = (way: Way): boolean => /^(4\d\d|500 before|hostile 4)/.test(way);
