import { CALL_TIMEOUT_MS } from '../../lib/service/partner/client.ts';
import { decryptPayload } from '../../sandbox/decryption.ts';
import { type Counting, ServiceModel } from '../service/budget/service-model.ts';
import type { VirtualTime } from '../service/budget/virtual-time.ts';

/** A call of the partner API. Times are virtual; those that have not come are undefined. */
export interface ServiceCall {
  connection: string;
  /** `defects/create` */
  operation: string;
  jobId: string;
  sentAt: number;
  /** When the service counted it against the limits; at the middle of its flight. */
  countedAt?: number;
  answeredAt?: number;
  status?: number;
}

export interface ServiceOptions {
  counting: Counting;
  limits: { perMinute: number; perDay: number };
  /** Other software uses the key evenly, with so many calls a minute. */
  othersPerMinute?: number;
  /** The limit of the minute, if it is not the one that the relay knows. */
  realPerMinute?: number;
  /** How long an answer takes. */
  latencyMs: readonly [number, number];
  /** This part of the calls is held by something between the relay and the service, and passed on so much later. */
  held?: { part: number; forMs: number };
  /** This part of the answers is lost. */
  lost?: number;
  /** A connection's operation answers 500, or what is said. */
  failing?: { connection: string; operation: string; status?: number };
  /** No key is known to it. */
  refusesKeys?: boolean;
  /** The first job to call always meets 429. */
  limitsFirstJob?: boolean;
  /** Calls are answered with 429 from then until then, in virtual time, and wanted again after so many seconds. */
  limitedFor?: { from: number; until: number; retryAfterSeconds: number };
  /** Connections are refused from then until then, in virtual time. */
  down?: { from: number; until: number };
}

/** The secret key of every connection. */
export const SECRET_KEY = 'sk_simulation';
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Hosts of the connections: `https://main.partner.example`. */
export const hostOf = (connection: string): string => `https://${connection}.partner.example`;

/** The service, at the wire: it counts, refuses and remembers nonces, and answers so that the relay is content. */
export class Service {
  readonly calls: ServiceCall[] = [];
  readonly #options: ServiceOptions;
  readonly #time: VirtualTime;
  readonly #random: () => number;
  readonly #counts = new Map<string, ServiceModel>();
  /** When the last call of others came, by connection. */
  readonly #othersAt = new Map<string, number>();
  readonly #nonces = new Set<string>();
  /** The bodies of the requests that created something, by connection. */
  readonly #created = new Map<string, string[]>();

  constructor(options: ServiceOptions, time: VirtualTime, random: () => number) {
    this.#options = options;
    this.#time = time;
    this.#random = random;
  }

  /** @throws {TypeError | DOMException} as fetch does */
  async fetch(url: URL, { headers, body }: { headers: Headers; body: string }, jobId: string): Promise<Response> {
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
    const answer = this.#handle(call, { nonce: headers.get('x-nonce') ?? '', body }, latency / 2 + holdMs);
    if (latency + holdMs > CALL_TIMEOUT_MS) {
      await this.#time.sleep(CALL_TIMEOUT_MS);
      throw new DOMException('The operation was aborted due to timeout', 'TimeoutError');
    }
    const { status, json } = await answer;
    await this.#time.sleep(latency / 2);
    if (this.#random() < lost) throw new TypeError('terminated', { cause: { code: 'UND_ERR_SOCKET' } });
    call.answeredAt = this.#time.now;
    call.status = status;
    const { retryAfterSeconds } = this.#options.limitedFor ?? {};
    const tells = status === 429 && retryAfterSeconds !== undefined;
    return Response.json(json, { status, ...(tells && { headers: { 'retry-after': String(retryAfterSeconds) } }) });
  }

  async #handle(call: ServiceCall, request: { nonce: string; body: string }, afterMs: number) {
    await this.#time.sleep(afterMs);
    call.countedAt = this.#time.now;
    const { failing, limitsFirstJob, limitedFor, refusesKeys } = this.#options;
    if (refusesKeys) return { status: 401, json: refusal('Unknown or revoked key') };
    if (limitsFirstJob && call.jobId === this.calls[0]?.jobId)
      return { status: 429, json: refusal('Too many requests') };
    if (limitedFor && call.sentAt >= limitedFor.from && call.sentAt < limitedFor.until)
      return { status: 429, json: refusal('Too many requests') };
    if (failing?.connection === call.connection && failing.operation === call.operation) {
      return { status: failing.status ?? 500, json: refusal('Server Error') };
    }
    if (!this.#count(call.connection)) return { status: 429, json: refusal('Too many requests') };
    if (this.#nonces.has(request.nonce)) return { status: 401, json: refusal('Nonce already used') };
    this.#nonces.add(request.nonce);
    return this.#carryOut(call, request.body);
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

  #carryOut({ connection, operation }: ServiceCall, body: string) {
    const created = this.#created.get(connection) ?? [];
    this.#created.set(connection, created);
    switch (operation) {
      case 'defects/create':
        created.push(body);
        return { status: 201, json: { success: true, data: { defect_id: created.length } } };
      case 'defects/list':
        return { status: 200, json: { success: true, ...listed(created, body) } };
      default:
        return { status: 200, json: { success: true, data: {} } };
    }
  }
}

/** A page of the defects, the newest first. */
function listed(created: readonly string[], body: string) {
  const { page = 1, per_page = 100 } = decryptPayload(Buffer.from(body), SECRET_KEY);
  const [at, size] = [Number(page), Number(per_page)];
  const data = created.map((body, index) => ({ defect_id: index + 1, body })).reverse();
  return {
    data: data.slice((at - 1) * size, at * size).map(({ defect_id, body }) => {
      const { description } = decryptPayload(Buffer.from(body), SECRET_KEY);
      return { defect_id, description };
    }),
    pagination: { current_page: at, last_page: Math.max(1, Math.ceil(created.length / size)) },
  };
}

const refusal = (message: string) => ({ success: false, message });
