import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { decryptPayload } from './decryption.ts';
import type { SandboxKey } from './keys.ts';
import type { Payload } from './operations/operation.ts';
import { Refusal, refuse } from './refusal.ts';
import { type Route, toOurs } from './routes.ts';

export type Check = 'rate' | 'key' | 'timestamp' | 'signature' | 'nonce' | 'decryption' | 'scope' | 'validation';

/** The order of the service's checks is not shown (docs/partner-api.md#401-reasons). It could well be one of these. */
export const checkOrders: readonly (readonly Check[])[] = [
  ['rate', 'key', 'timestamp', 'signature', 'nonce', 'decryption', 'scope', 'validation'],
  ['key', 'timestamp', 'signature', 'nonce', 'rate', 'scope', 'decryption', 'validation'],
  ['key', 'timestamp', 'nonce', 'signature', 'rate', 'decryption', 'scope', 'validation'],
  ['timestamp', 'nonce', 'rate', 'key', 'scope', 'signature', 'decryption', 'validation'],
  ['key', 'scope', 'rate', 'signature', 'timestamp', 'nonce', 'decryption', 'validation'],
  ['key', 'rate', 'timestamp', 'signature', 'decryption', 'validation', 'scope', 'nonce'],
  ['nonce', 'key', 'timestamp', 'signature', 'decryption', 'scope', 'validation', 'rate'],
];

export interface Attempt {
  readonly path: string;
  readonly route: Route;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly nowMs: number;
  readonly key: SandboxKey | undefined;
  /** As it was on arrival: by the time of its check, the nonce may have been remembered for this very attempt. */
  readonly nonceUsed: boolean;
  /** As it was on arrival; 0 when the limits have room. */
  readonly limitWaitMs: number;
  readonly tellsRetryAfter: boolean;
  /** Set by the check 'decryption', and cut to the known fields by the check 'validation'. */
  payload: Payload;
}

const allowedDriftMs = 5 * 60_000;
const shortestNonce = 8;

/** Each throws a Refusal. The 401 texts are those of docs/partner-api.md#401-reasons, all other texts are assumed. */
export const checks: Readonly<Record<Check, (attempt: Attempt) => void>> = {
  rate({ limitWaitMs, tellsRetryAfter }) {
    if (limitWaitMs === 0) return;
    // No Retry-After is shown (docs/partner-api.md#limits).
    const retryAfterSeconds = tellsRetryAfter ? Math.ceil(limitWaitMs / 1000) : undefined;
    throw new Refusal(429, 'Rate limit exceeded', { retryAfterSeconds });
  },

  key(attempt) {
    usableKey(attempt);
  },

  timestamp({ headers, nowMs }) {
    const timestamp = header(headers, 'x-timestamp');
    // "within plus or minus 5 minutes": taken as inclusive. One that is missing or no integer is outside (assumed).
    const driftMs = Math.abs(Number(timestamp) * 1000 - nowMs);
    if (!/^\d+$/.test(timestamp) || driftMs > allowedDriftMs) refuse(401, 'Timestamp outside window');
  },

  signature(attempt) {
    const { path, headers, body } = attempt;
    const bodyHash = createHash('sha256').update(body).digest('hex');
    // PATH is the request's path as sent, so with a path in front of /api/v1/partner if there is one (assumed).
    const canonical = ['POST', path, header(headers, 'x-timestamp'), header(headers, 'x-nonce'), bodyHash].join('\n');
    const expected = createHmac('sha256', usableKey(attempt).secretKey).update(canonical).digest('hex');
    const given = Buffer.from(header(headers, 'x-signature'));
    if (given.length !== expected.length || !timingSafeEqual(given, Buffer.from(expected))) {
      refuse(401, 'Invalid signature');
    }
  },

  nonce({ headers, nonceUsed }) {
    // No reason is listed for a nonce that is missing or too short; this one is assumed.
    if (header(headers, 'x-nonce').length < shortestNonce) refuse(401, 'Invalid signature');
    if (nonceUsed) refuse(401, 'Nonce already used');
  },

  decryption(attempt) {
    const { headers, body, route } = attempt;
    const { secretKey } = usableKey(attempt);
    // docs/partner-api.md#requests. The status for a wrong one is not shown, and assumed to be that of a bad payload.
    for (const name of ['content-type', 'accept'] as const) {
      if (!header(headers, name).includes('application/json')) {
        refuse(route.operation.invalid, `${name} must be application/json`);
      }
    }
    try {
      attempt.payload = decryptPayload(body, secretKey);
    } catch (error) {
      refuse(route.operation.invalid, error instanceof Error ? error.message : String(error));
    }
  },

  scope(attempt) {
    const { scope } = attempt.route.operation;
    const { scopes } = usableKey(attempt);
    if (scope !== null && !scopes.includes('*') && !scopes.includes(scope)) refuse(403, `Key lacks the scope ${scope}`);
  },

  validation(attempt) {
    attempt.payload = attempt.route.operation.validate(toOurs(attempt.route, attempt.payload));
  },
};

/** Throws when an order is not one that can be followed. */
export function verifyOrder(order: readonly Check[]): void {
  const names = Object.keys(checks);
  if (order.length !== names.length || new Set(order).size !== names.length) {
    throw new Error(`checkOrder must name each of ${names.join(', ')} once`);
  }
  const place = (check: Check) => order.indexOf(check);
  for (const check of ['signature', 'decryption', 'scope'] as const) {
    if (place(check) < place('key')) throw new Error(`checkOrder: ${check} needs key before it`);
  }
  if (place('validation') < place('decryption')) throw new Error('checkOrder: validation needs decryption before it');
}

export function header(headers: IncomingHttpHeaders, name: string): string {
  return String(headers[name] ?? '');
}

function usableKey({ key }: Attempt): SandboxKey {
  return key === undefined || (key.state ?? 'active') !== 'active' ? refuse(401, 'Unknown or revoked key') : key;
}
