import type { KeyObject } from 'node:crypto';
import { encryptPayload } from './encryption.ts';
import { sign } from './signature.ts';

/**
 * One request as it goes over the wire. Sending it twice sends the same bytes, which the service carries out at most
 * once: it remembers the nonce for 10 minutes and refuses the timestamp after 5.
 */
export interface SignedRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** Epoch milliseconds by the relay's own clock. */
  signedAt: number;
}

/** All that goes into a signed request; with the same input it is the same request. */
export interface SigningInput {
  url: string;
  apiKey: string;
  secretKey: string;
  encryptionKey: KeyObject;
  payload: unknown;
  /** Epoch milliseconds by the relay's own clock. */
  now: number;
  /** What the service's clock is ahead of ours, in seconds. */
  clockOffsetSeconds: number;
  /** At least 8 characters, never used before (docs/partner-api.md#requests). */
  nonce: string;
  /** 16 random bytes. */
  iv: Uint8Array;
}

/** Encrypts and signs a payload (docs/partner-api.md#encryption, docs/partner-api.md#signature). */
export function signRequest(input: SigningInput): SignedRequest {
  const { url, apiKey, secretKey, nonce } = input;
  const timestampSeconds = Math.floor(input.now / 1000) + input.clockOffsetSeconds;
  const body = bodyOf(encryptPayload(input.payload, input.encryptionKey, input.iv));
  const signature = sign({ path: pathOf(url), timestampSeconds, nonce, body }, secretKey);
  return {
    url,
    headers: {
      accept: 'application/json',
      'content-type': 'application/json',
      'x-api-key': apiKey,
      'x-timestamp': String(timestampSeconds),
      'x-nonce': nonce,
      'x-signature': signature,
    },
    body,
    signedAt: input.now,
  };
}

/** @param encryptedData Base64, which has no character that JSON escapes */
function bodyOf(encryptedData: string): string {
  return `{"encrypted_data":"${encryptedData}"}`;
}

/**
 * The body of a signed request in a quarter less space: its encrypted bytes. A body from which {@link unpackBody} would
 * not make the very same bytes again stays as it is.
 */
export function packBody(body: string): Uint8Array | string {
  const encryptedData = body.slice(body.indexOf(':') + 2, -2);
  const encrypted = Buffer.from(encryptedData, 'base64');
  return unpackBody(encrypted) === body ? encrypted : body;
}

export function unpackBody(packed: Uint8Array | string): string {
  return typeof packed === 'string' ? packed : bodyOf(Buffer.from(packed).toString('base64'));
}

/** The path of an absolute URL; `new URL` would cost a tenth of the signing. */
function pathOf(url: string): string {
  return url.slice(url.indexOf('/', url.indexOf('://') + 3));
}
