import { randomBytes } from 'node:crypto';
import type * as z from 'zod';
import { type Result, readAnswer } from './answer.ts';
import { partnerRoot } from './base-url.ts';
import { API_KEY, API_KEY_EXPECTED, encryptionKey, IV_BYTES } from './encryption.ts';
import { PartnerPayloadError, PartnerRefusal } from './errors.ts';
import { exchange } from './exchange.ts';
import { theirFields } from './field-names.ts';
import type { Operation } from './operation.ts';
import { type KeptRequest, restored, type SignedRequest, signRequest } from './signed-request.ts';

/** Default time-out of one call, from the first byte sent to the last byte read. */
export const CALL_TIMEOUT_MS = 10_000;

const NONCE_BYTES = 12;

export interface PartnerClientOptions {
  /** Scheme and host of the instance, with its path and port if it has them. */
  baseUrl: string;
  /** Allows a plain http base URL; see {@link partnerRoot} for the risk. Default: false. */
  allowInsecureHttp?: boolean | undefined;
  /** Public identifier, starts with `pk_`. */
  apiKey: string;
  /** Never transmitted. */
  secretKey: string;
  /** Keeps connections alive between calls, as Node's own fetch does. */
  fetch?: typeof globalThis.fetch;
  /** Epoch milliseconds. */
  clock?: () => number;
  /** Returns `size` unpredictable bytes. */
  random?: (size: number) => Uint8Array;
  timeoutMs?: number;
}

/**
 * Calls of one connection. Signing and sending are separate, so that a caller can store a request before sending it.
 */
export interface PartnerClient {
  /**
   * Checks, encrypts and signs a payload.
   * @throws {PartnerPayloadError} if the operation does not accept the payload
   */
  sign<P extends z.ZodType>(operation: Operation<P>, payload: z.input<P>): SignedRequest;
  /**
   * Restores a stored request with the same bytes. @returns undefined if another key signed it, or for another instance
   */
  restore(kept: KeptRequest): SignedRequest | undefined;
  /**
   * Sends a signed request once. It never signs again, because only the caller knows whether a retry is safe. After a
   * `timestamp outside window`, the next signature uses the service's clock.
   * @throws {PartnerRefusal | PartnerUnreadable | PartnerUnanswered}
   */
  send<D extends z.ZodType>(operation: Operation<z.ZodType, D>, request: SignedRequest): Promise<Result<z.output<D>>>;
  /** Calls {@link sign}, then {@link send}. */
  call<P extends z.ZodType, D extends z.ZodType>(
    operation: Operation<P, D>,
    payload: z.input<P>,
  ): Promise<Result<z.output<D>>>;
}

/**
 * Creates a client for one instance of the service with one API key.
 * @throws {BaseUrlError} for an unusable base URL
 * @throws {Error} for an API key that cannot be a header's value
 */
export function createPartnerClient(options: PartnerClientOptions): PartnerClient {
  const { apiKey, secretKey, allowInsecureHttp, timeoutMs = CALL_TIMEOUT_MS } = options;
  const { fetch = globalThis.fetch, clock = Date.now, random = randomBytes } = options;
  const root = partnerRoot(options.baseUrl, { allowInsecureHttp });
  // fetch quotes an invalid header in its error. It also trims whitespace, and the trimmed key would not be redacted.
  if (!API_KEY.test(apiKey)) throw new Error(`API key: ${API_KEY_EXPECTED}`);
  const key = encryptionKey(secretKey);
  let clockOffsetSeconds = 0;

  const client: PartnerClient = {
    sign(operation, payload) {
      return signRequest({
        url: `${root}/${operation.path}`,
        apiKey,
        secretKey,
        encryptionKey: key,
        payload: theirFields(checked(operation, payload), operation.fields),
        now: clock(),
        clockOffsetSeconds,
        nonce: Buffer.from(random(NONCE_BYTES)).toString('hex'),
        iv: random(IV_BYTES),
      });
    },
    // Checks the URL, because the signature does not cover the host, and more roles may write to the table than may
    // send with the key.
    restore: (kept) => (kept.url.startsWith(`${root}/`) ? restored(kept, { apiKey, secretKey }) : undefined),
    async send(operation, request) {
      const answer = await exchange(fetch, operation.name, request, timeoutMs);
      const secrets = [apiKey, secretKey, request.headers['x-signature'], request.headers['x-nonce']];
      try {
        return readAnswer(
          operation,
          answer,
          secrets.filter((secret) => secret !== undefined),
          clock(),
        );
      } catch (error) {
        if (error instanceof PartnerRefusal && error.clockOffsetSeconds !== null) {
          clockOffsetSeconds = error.clockOffsetSeconds;
        }
        throw error;
      }
    },
    call: async (operation, payload) => client.send(operation, client.sign(operation, payload)),
  };
  return client;
}

function checked<P extends z.ZodType>(operation: Operation<P>, payload: z.input<P>): Record<string, unknown> {
  const parsed = operation.payload.safeParse(payload);
  if (parsed.success) return parsed.data as Record<string, unknown>;
  throw new PartnerPayloadError(
    operation.name,
    parsed.error.issues.map((issue) => `${issue.path.join('.') || 'payload'}: ${issue.message}`),
  );
}
