import { type BinaryToTextEncoding, createHmac } from 'node:crypto';
import type { RawRequest } from '../../state/http/function-url.ts';
import { isSameText } from '../../state/http/signatures.ts';
import type { Verification } from '../../triggers/webhook.ts';

/** Verifies in constant time that the sender of a request knows the secret. Nothing of the body is parsed before. */
export function isGenuine(
  verify: Verification,
  { headers, bytes }: Pick<RawRequest, 'headers' | 'bytes'>,
  secret: string,
): boolean {
  const signed = (key: string | Uint8Array, encoding: BinaryToTextEncoding, ...before: (string | undefined)[]) =>
    createHmac('sha256', key)
      .update(before.map((part) => `${part ?? ''}.`).join(''))
      .update(bytes)
      .digest(encoding);
  switch (verify.by) {
    case 'standard': {
      const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': list = '' } = headers;
      const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
      const expected = `v1,${signed(key, 'base64', id, timestamp)}`;
      return list.split(' ').some((given) => isSameText(given, expected));
    }
    case 'hmac': {
      const { header, encoding, prefix, timestamp } = verify;
      const digest = signed(secret, encoding, ...(timestamp === undefined ? [] : [headers[timestamp]]));
      const given = headers[header]?.split(/[,\s]+/).filter((one) => one.startsWith(prefix)) ?? [];
      const values = given.map((one) => one.slice(prefix.length));
      return values.some((value) => isSameText(encoding === 'hex' ? value.toLowerCase() : value, digest));
    }
    case 'token':
      return isSameText(headers[verify.header] ?? '', secret);
  }
}

/** The header that proves who sent a request. */
export const proofOf = (verify: Verification): string =>
  verify.by === 'standard' ? 'webhook-signature' : verify.header;

/** The header with the signed time of a request, in seconds, if it has one. */
export function timeHeaderOf(verify: Verification): string | undefined {
  if (verify.by === 'standard') return 'webhook-timestamp';
  return verify.by === 'hmac' ? verify.timestamp : undefined;
}
