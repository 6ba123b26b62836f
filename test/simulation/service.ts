import { CALL_TIMEOUT_MS } from '../../lib/service/partner/client.ts';
import { createSandbox, defaultKey } from '../../sandbox/sandbox.ts';
import { type Counting, ServiceModel } from '../service/budget/service-model.ts';
import type { VirtualTime } from '../service/budget/virtual-time.ts';

/** A call of the partner API. Times are virtual, and undefined until they come. */
export interface ServiceCall {
  connection: string;
  /** `defects/create` */
  operation: string;
  jobId: string;
  sentAt: number;
  /** When the service counted it for the limits: at the middle of its flight. */
  countedAt?: number;
  answeredAt?: number;
  status?: number;
}

export interface ServiceOptions {
  counting: Counting;
  limits: { perMinute: number; perDay: number };
  /** The calls a minute that other software makes evenly with the key. */
  othersPerMinute?: number;
  /** The real limit per minute, if it differs from the configured one. */
  realPerMinute?: number;
  /** The time of an answer. */
  latencyMs: readonly [number, number];
  /** A proxy holds this part of the calls, and passes them on later. */
  held?: { part: number; forMs: number };
  /** The part of the answers that is lost. */
  lost?: number;
  /** A connection's operation answers 500, or with the given status. */
  failing?: { connection: string; operation: string; status?: number };
  /** Whether the service refuses all keys. */
  refusesKeys?: boolean;
  /** Whether the first calling job always gets a 429. */
  limitsFirstJob?: boolean;
  /** During this time (virtual), calls get a 429 and the request to wait. */
  limitedFor?: { from: number; until: number; retryAfterSeconds: number };
  /** During this time (virtual), connections are refused. */
  down?: { from: number; until: number };
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Hosts of the connections: `https://main.partner.example`. */
export const hostOf = (connection: string): string => `https://${connection}.partner.example`;

/** The key of every connection. */
export const KEY = { ...defaultKey, apiKey: 'pk_simulation', secretKey: 'sk_simulation' };

/** The sandbox, with a workload's latencies, losses, and way to count. */
export class Service {
  readonly calls: ServiceCall[] = [];
  readonly #options: ServiceOptions;
  readonly #time: VirtualTime;
  readonly #random: () => number;
  readonly #counts = new Map<string, ServiceModel>();
  /** When other software last called, by connection. */
  readonly #othersAt = new Map<string, number>();
  /** A service for each connection. */
  readonly #sandboxes = new Map<string, ReturnType<typeof createSandbox>>();

  constructor(options: ServiceOptions, time: VirtualTime, random: () => number) {
    this.#options = options;
    this.#time = time;
    this.#random = random;
  }

  /** Adds items to the checklists. */
  addItems(connection: string, items: readonly number[]): void {
    const { checklistItems } = this.#sandboxOf(connection).sandbox.data;
    const [like] = checklistItems;
    if (like) for (const item_id of items) checklistItems.push({ ...like, item_id });
  }

  /** @throws {TypeError | DOMException} as fetch does */
  async fetch(url: URL, init: RequestInit, jobId: string): Promise<Response> {
    const { down, held, lost = 0, latencyMs } = this.#options;
    const sentAt = this.#time.now;
    if (down && sentAt >= down.from && sentAt < down.until) {
      await this.#time.sleep(2);
      throw new TypeError('fetch failed', { cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) });
    }
    const connection = url.hostname.split('.', 1)[0] ?? '';
    const operation = url.pathname.replace('/api/v1/partner/', '');
    const call: ServiceCall = { connection, operation, jobId, sentAt };
    this.calls.push(call);
    const latency = latencyMs[0] + this.#random() * (latencyMs[1] - latencyMs[0]);
    const holdMs = held && this.#random() < held.part ? held.forMs : 0;
    const answer = this.#handle(call, () => this.#sandboxOf(connection).fetch(url, init), latency / 2 + holdMs);
    if (latency + holdMs > CALL_TIMEOUT_MS) {
      await this.#time.sleep(CALL_TIMEOUT_MS);
      throw new DOMException('The operation was aborted due to timeout', 'TimeoutError');
    }
    const response = await answer;
    await this.#time.sleep(latency / 2);
    if (this.#random() < lost) throw new TypeError('terminated', { cause: { code: 'UND_ERR_SOCKET' } });
    call.answeredAt = this.#time.now;
    call.status = response.status;
    return response;
  }

  async #handle(call: ServiceCall, carryOut: () => Promise<Response>, afterMs: number): Promise<Response> {
    await this.#time.sleep(afterMs);
    call.countedAt = this.#time.now;
    const { failing, limitsFirstJob, limitedFor, refusesKeys } = this.#options;
    const tooMany = () => {
      const { retryAfterSeconds } = limitedFor ?? {};
      return refusal(429, retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) });
    };
    if (refusesKeys) return refusal(401);
    if (limitsFirstJob && call.jobId === this.calls[0]?.jobId) return tooMany();
    if (limitedFor && call.sentAt >= limitedFor.from && call.sentAt < limitedFor.until) return tooMany();
    if (failing?.connection === call.connection && failing.operation === call.operation) {
      return refusal(failing.status ?? 500);
    }
    return this.#count(call.connection) ? carryOut() : tooMany();
  }

  #sandboxOf(connection: string) {
    const known = this.#sandboxes.get(connection);
    if (known) return known;
    const options = { clock: () => this.#time.now, keys: [KEY], rateLimit: { perMinute: 1e9, perDay: 1e9 } };
    const made = createSandbox(options, () => hostOf(connection));
    this.#sandboxes.set(connection, made);
    return made;
  }

  #count(connection: string): boolean {
    const { counting, limits, othersPerMinute, realPerMinute = limits.perMinute } = this.#options;
    const count =
      this.#counts.get(connection) ??
      new ServiceModel(counting, [
        { lengthMs: 60_000, most: realPerMinute },
        { lengthMs: DAY_MS, most: limits.perDay },
      ]);
    this.#counts.set(connection, count);
    if (othersPerMinute) {
      const apartMs = MINUTE_MS / othersPerMinute;
      const last = this.#othersAt.get(connection) ?? this.#time.now - MINUTE_MS;
      let next = last + apartMs;
      for (; next <= this.#time.now; next += apartMs) count.request(next);
      this.#othersAt.set(connection, next - apartMs);
    }
    return count.request(this.#time.now);
  }
}

const refusal = (status: number, headers: Record<string, string> = {}) =>
  Response.json({ success: false, message: 'No' }, { status, headers });
