import { createHmac, hash } from 'node:crypto';

/** What a signature covers (docs/partner-api.md#signature). */
export interface SignatureInput {
  /** Path of the request with its leading slash, as sent: `/api/v1/partner/tasks/list`. */
  path: string;
  /** Unix time in seconds, as in `X-TIMESTAMP`. */
  timestampSeconds: number;
  /** As in `X-NONCE`. */
  nonce: string;
  /** The body exactly as sent. */
  body: string;
}

/** The five signed fields, joined by single LFs (docs/partner-api.md#signature). */
export function canonicalString({ path, timestampSeconds, nonce, body }: SignatureInput): string {
  return `POST\n${path}\n${timestampSeconds}\n${nonce}\n${hash('sha256', body)}`;
}

/** The value of `X-SIGNATURE`: lowercase hex HMAC-SHA256 of the canonical string, keyed with the secret key. */
export function sign(input: SignatureInput, secretKey: string): string {
  return createHmac('sha256', secretKey).update(canonicalString(input), 'utf8').digest('hex');
}
