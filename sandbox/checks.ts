import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { decryptPayload } from './decryption.ts';
import type { Payload } from './operations/operation.ts';
import { Refusal, refuse } from './refusal.ts';
import { type Route, toOurs } from './routes.ts';

export interface SandboxKey {
  apiKey: string;
  secretKey: string;
  /** `*` allows everything. Other names are assumed. */
  scopes: readonly string[];
  isRevoked?: boolean;
  isInactive?: boolean;
  /** Epoch milliseconds. */
  expiresAt?: number;
}

export type Check = 'rate' | 'key' | 'timestamp' | 'signature' | 'nonce' | 'decryption' | 'scope' | 'validation';

/** Plausible orders: docs/partner-api.md#401-reasons does not show the order of the service's checks. */
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
  /** The state on arrival. When the nonce is checked, it may already be remembered for this attempt. */
  readonly nonceUsed: boolean;
  /** The state on arrival; 0 if the limits have room. */
  readonly limitWaitMs: number;
  readonly tellsRetryAfter: boolean;
  /** The check 'decryption' sets it, and the check 'validation' reduces it to the known fields. */
  payload: Payload;
}

const allowedDriftMs = 5 * 60_000;
const shortestNonce = 8;

/**
 * Each check throws a Refusal if it fails. The texts for 401 are from docs/partner-api.md#401-reasons, all others are
 * assumed.
 */
export const checks: Readonly<Record<Check, (attempt: Attempt) => void>> = {
  rate({ limitWaitMs, tellsRetryAfter }) {
    if (limitWaitMs === 0) return;
    // docs/partner-api.md#limits shows no Retry-After.
    const retryAfterSeconds = tellsRetryAfter ? Math.ceil(limitWaitMs / 1000) : undefined;
    throw new Refusal(429, 'Rate limit exceeded', { retryAfterSeconds });
  },

  key(attempt) {
    usableKey(attempt);
  },

  timestamp({ headers, nowMs }) {
    const timestamp = header(headers, 'x-timestamp');
    // Assumed: "within plus or minus 5 minutes" is inclusive, and a timestamp that is missing or not an integer is
    // outside.
    const driftMs = Math.abs(Number(timestamp) * 1000 - nowMs);
    if (!/^\d+$/.test(timestamp) || driftMs > allowedDriftMs) refuse(401, 'Timestamp outside window');
  },

  signature(attempt) {
    const { path, headers, body } = attempt;
    const bodyHash = createHash('sha256').update(body).digest('hex');
    // Assumed: PATH is the path as sent, with any part before /api/v1/partner.
    const canonical = ['POST', path, header(headers, 'x-timestamp'), header(headers, 'x-nonce'), bodyHash].join('\n');
    const expected = createHmac('sha256', usableKey(attempt).secretKey).update(canonical).digest('hex');
    const given = Buffer.from(header(headers, 'x-signature'));
    if (given.length !== expected.length || !timingSafeEqual(given, Buffer.from(expected))) {
      refuse(401, 'Invalid signature');
    }
  },

  nonce({ headers, nonceUsed }) {
    // Assumed: the document lists no reason for a nonce that is missing or too short.
    if (header(headers, 'x-nonce').length < shortestNonce) refuse(401, 'Invalid signature');
    if (nonceUsed) refuse(401, 'Nonce already used');
  },

  decryption(attempt) {
    const { headers, body, route } = attempt;
    const { secretKey } = usableKey(attempt);
    // docs/partner-api.md#requests. Assumed: the status for a wrong header is the one for an invalid payload.
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

export function header(headers: IncomingHttpHeaders, name: string): string {
  return String(headers[name] ?? '');
}

function usableKey({ key, nowMs }: Attempt): SandboxKey {
  const isUsable = key && !key.isRevoked && !key.isInactive && nowMs < (key.expiresAt ?? Number.POSITIVE_INFINITY);
  return isUsable ? key : refuse(401, 'Unknown or revoked key');
}
