import type { IncomingHttpHeaders } from 'node:http';
import { type Answer, disturbed, jsonAnswer, refusalAnswer } from './answer.ts';
import { type Attempt, type Check, checks, header, type SandboxKey } from './checks.ts';
import { delay, type Fault, type Faults, skewMsOf } from './faults.ts';
import type { NonceMoment, Nonces } from './nonces.ts';
import type { RateLimiter } from './rate-limit.ts';
import { Refusal } from './refusal.ts';
import { type Route, toTheirs, undeclared } from './routes.ts';
import { keyOwnerId } from './seed.ts';
import type { Store } from './store.ts';

export interface PartnerRequest {
  method: string;
  /** The full path as sent. */
  path: string;
  /** The part of the path after /api/v1/partner. */
  operation: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  ip: string;
}

export interface Service {
  store: Store;
  nonces: Nonces;
  limiter: RateLimiter;
  faults: Faults;
  keys: readonly SandboxKey[];
  routes: ReadonlyMap<string, Route>;
  clock(): number;
  /** Rejects if the server closes meanwhile. */
  sleep(ms: number): Promise<unknown>;
  checkOrder: readonly Check[];
  nonceMoment: NonceMoment;
  tellsRetryAfter: boolean;
  paginatesAll: boolean;
}

/**
 * Processes a request: arrival, checks, work, answer. Everything between two latencies is atomic, and data that must
 * survive a kill is written before each latency. Resolves to null if the connection must be cut.
 */
export async function answerPartner(service: Service, request: PartnerRequest): Promise<Answer | null> {
  const faults = service.faults.take(request.operation, 'partner');
  await delay(service.sleep, faults, 'on arrival');
  const skewMs = skewMsOf(faults);

  const answer = await answerAttempt(service, request, faults, skewMs);
  service.store.addToAudit({
    time: new Date(service.clock() + skewMs).toISOString(),
    ip: request.ip,
    endpoint: request.operation,
    status: answer?.status ?? null,
    reason: answer === null ? 'fault: cut' : answer.reason,
  });
  service.store.commit();
  await delay(service.sleep, faults, 'after work');
  if (answer === null) return null;
  await delay(service.sleep, faults, 'on answer');
  if (disturbed(faults, 'on answer', answer) === null) return null;
  return { ...answer, headers: { ...answer.headers, date: new Date(service.clock() + skewMs).toUTCString() } };
}

/** The lists in docs/partner-api.md#pagination. */
const paginated: ReadonlySet<string> = new Set([
  '/projects/search',
  '/tasks/list',
  '/tasks/search',
  '/timelogs/list',
  '/timelogs/search',
]);

async function answerAttempt(
  service: Service,
  request: PartnerRequest,
  faults: readonly Fault[],
  skewMs: number,
): Promise<Answer | null> {
  const done = jsonAnswer(200, { success: true, message: 'OK', data: {} });
  const stopped = disturbed(faults, 'on arrival', done);
  if (stopped !== done) return stopped;

  // "Method is always POST". Assumed: other methods get a 405, and do not count.
  if (request.method !== 'POST') {
    const refused = refusalAnswer(new Refusal(405, 'Method not allowed'));
    return { ...refused, headers: { ...refused.headers, allow: 'POST' } };
  }
  const route = service.routes.get(request.operation) ?? undeclared(request.operation);

  const arrivedAt = service.clock();
  const apiKey = header(request.headers, 'x-api-key');
  const nonce = `${apiKey} ${header(request.headers, 'x-nonce')}`;
  const key = service.keys.find((candidate) => candidate.apiKey === apiKey);
  const attempt: Attempt = {
    ...request,
    route,
    nowMs: arrivedAt + skewMs,
    key: key && { ...key, ...(faults.some(({ kind }) => kind === 'key-revoked') && { isRevoked: true }) },
    nonceUsed: service.nonces.isUsed(nonce),
    limitWaitMs: service.limiter.waitMs(apiKey, arrivedAt),
    tellsRetryAfter: service.tellsRetryAfter,
    payload: {},
  };
  if (service.nonceMoment === 'on arrival') service.nonces.remember(nonce);
  const refusal = refusalOf(() => {
    for (const check of service.checkOrder) {
      checks[check](attempt);
      if (service.nonceMoment === `after ${check}`) service.nonces.remember(nonce);
    }
  });
  // "counted per API key". Assumed: a request without a known key does not count, and a refused one does.
  if (key) service.limiter.count(apiKey, arrivedAt);
  return refusal ? refusalAnswer(refusal, route) : carryOut(service, attempt, nonce, faults);
}

async function carryOut(
  service: Service,
  attempt: Attempt,
  nonce: string,
  faults: readonly Fault[],
): Promise<Answer | null> {
  const { operation } = attempt.route;
  service.nonces.hold(nonce);
  try {
    service.store.commit();
    await delay(service.sleep, faults, 'before work');
    const ready = jsonAnswer(operation.success, { success: true, message: 'OK', data: {} });
    const stopped = disturbed(faults, 'before work', ready);
    if (stopped !== ready) return stopped;

    let answer = ready;
    const refusal = refusalOf(() => {
      const { data, pagination } = operation.run(attempt.payload, service.store, stamp(attempt.nowMs), keyOwnerId);
      const shown = Array.isArray(data)
        ? data.map((record: object) => toTheirs(attempt.route, record))
        : toTheirs(attempt.route, data);
      const told = service.paginatesAll || paginated.has(operation.path) ? pagination : undefined;
      answer = jsonAnswer(operation.success, { success: true, message: 'OK', data: shown, pagination: told });
    });
    if (refusal) return refusalAnswer(refusal, attempt.route);
    if (service.nonceMoment === 'after work') service.nonces.remember(nonce);
    return disturbed(faults, 'after work', answer);
  } finally {
    service.nonces.release(nonce);
  }
}

function refusalOf(act: () => void): Refusal | null {
  try {
    act();
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

function stamp(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}
