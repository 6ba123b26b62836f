import { createHmac, hash, type KeyObject } from 'node:crypto';
import { encryptPayload } from './encryption.ts';

/**
 * One request as it is sent. Sending it twice sends the same bytes, and the service executes them at most once: it
 * remembers the nonce for 10 minutes, and after that it refuses the timestamp.
 */
export interface SignedRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** Epoch milliseconds by the relay's own clock. */
  signedAt: number;
}

/** The input of a signed request. The same input always gives the same request. */
export interface SigningInput extends SigningKeys {
  url: string;
  encryptionKey: KeyObject;
  payload: unknown;
  /** Epoch milliseconds by the relay's own clock. */
  now: number;
  /** How many seconds the service's clock is ahead of ours. */
  clockOffsetSeconds: number;
  /** At least 8 characters, never used before (docs/partner-api.md#requests). */
  nonce: string;
  /** 16 random bytes. */
  iv: Uint8Array;
}

/** Encrypts and signs a payload (docs/partner-api.md#encryption, docs/partner-api.md#signature). */
export function signRequest(input: SigningInput): SignedRequest {
  const { url, nonce } = input;
  const timestampSeconds = Math.floor(input.now / 1000) + input.clockOffsetSeconds;
  const body = bodyOf(encryptPayload(input.payload, input.encryptionKey, input.iv));
  return withSignature({ url, timestampSeconds, nonce, body, signedAt: input.now }, input);
}

/** The signed data, and the relay's note of the time. */
interface Unsigned extends Omit<SignedRequest, 'headers'> {
  /** Unix time in seconds, as in `X-TIMESTAMP`. */
  timestampSeconds: number;
  /** The value of `X-NONCE`. */
  nonce: string;
}

/** The key that a request names, and the key that signs it. */
export interface SigningKeys {
  apiKey: string;
  /** Never transmitted. */
  secretKey: string;
}

function withSignature(request: Unsigned, { apiKey, secretKey }: SigningKeys): SignedRequest {
  const { url, timestampSeconds, nonce, body, signedAt } = request;
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
    signedAt,
  };
}

/**
 * A signed request as it may be stored: without the API key and the signature, so that a reader cannot send it.
 */
export interface KeptRequest extends Unsigned {
  /** Digest of the API key and the signature, in Base64. */
  proof: string;
}

export function kept({ url, headers, body, signedAt }: SignedRequest): KeptRequest {
  const [timestampSeconds, nonce = ''] = [Number(headers['x-timestamp']), headers['x-nonce']];
  return { url, timestampSeconds, nonce, body, signedAt, proof: proofOf(headers) };
}

/** Restores the same bytes. @returns undefined if other keys signed them */
export function restored({ proof, ...request }: KeptRequest, keys: SigningKeys): SignedRequest | undefined {
  const signed = withSignature(request, keys);
  return proofOf(signed.headers) === proof ? signed : undefined;
}

const proofOf = (headers: SignedRequest['headers']): string =>
  hash('sha256', `${headers['x-api-key']}\0${headers['x-signature']}`, 'base64');

/** @param encryptedData Base64, which contains no character that JSON escapes */
function bodyOf(encryptedData: string): string {
  return `{"encrypted_data":"${encryptedData}"}`;
}

/**
 * How long after signing the service may carry out a request. It accepts a timestamp up to five minutes before or after
 * its own clock (docs/partner-api.md#requests). A clock that is five minutes late accepts it for ten minutes after the
 * signing; the eleventh is a margin. The `Date` of an answer does not shorten this, because a proxy may have written
 * it.
 */
const EXECUTABLE_FOR_MS = 11 * 60_000;

/** Returns until when the service may carry out a request that was signed at that time. Epoch milliseconds. */
export const executableUntil = (signedAt: number): number => signedAt + EXECUTABLE_FOR_MS;

/**
 * Returns the body of a signed request as its encrypted bytes, which take a quarter less space. Leaves a body as it is
 * that {@link unpackBody} could not restore byte for byte.
 */
export function packBody(body: string): Uint8Array | string {
  const encryptedData = body.slice(body.indexOf(':') + 2, -2);
  const encrypted = Buffer.from(encryptedData, 'base64');
  return unpackBody(encrypted) === body ? encrypted : body;
}

export function unpackBody(packed: Uint8Array | string): string {
  return typeof packed === 'string' ? packed : bodyOf(Buffer.from(packed).toString('base64'));
}

/** Returns the path of an absolute URL. Parsing with `new URL` would take a tenth as long as the signing. */
function pathOf(url: string): string {
  return url.slice(url.indexOf('/', url.indexOf('://') + 3));
}

/** The fields that a signature covers (docs/partner-api.md#signature). */
interface SignatureInput extends Omit<Unsigned, 'url' | 'signedAt'> {
  /** Path of the request with its leading slash, as sent: `/api/v1/partner/tasks/list`. */
  path: string;
}

/** Joins the five signed fields with single LFs (docs/partner-api.md#signature). */
export function canonicalString({ path, timestampSeconds, nonce, body }: SignatureInput): string {
  return `POST\n${path}\n${timestampSeconds}\n${nonce}\n${hash('sha256', body)}`;
}

/** Returns the value of `X-SIGNATURE`: lowercase hex HMAC-SHA256 of the canonical string, keyed with the secret key. */
export function sign(input: SignatureInput, secretKey: string): string {
  return createHmac('sha256', secretKey).update(canonicalString(input), 'utf8').digest('hex');
}
