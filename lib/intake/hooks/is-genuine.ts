import { type BinaryToTextEncoding, createHmac } from 'node:crypto';
import type { RawRequest } from '../../state/http/function-url.ts';
import { isSameText } from '../../state/http/signatures.ts';
import type { Verification } from '../../triggers/webhook.ts';

/** What a secret is used as; empty if it has nothing that only the sender could know. */
export function keyOf(verify: Pick<Verification, 'by'>, secret: string): Buffer {
  const text = secret.trim().replace(verify.by === 'standard' ? /^(?:v1,)?whsec_/ : /^$/, '');
  if (verify.by === 'standard') return Buffer.from(/^[\w+/-]+={0,2}$/.test(text) ? text : '', 'base64');
  return Buffer.from(text === '' ? '' : secret);
}

/** What is wrong with a secret as a person enters it, and whether requests can be verified with it all the same. */
export function secretFault(
  verify: Pick<Verification, 'by'>,
  secret: string,
): { what: string; isUsable: boolean } | undefined {
  const { length } = keyOf(verify, secret);
  const isUsable = length > 0;
  if (verify.by === 'standard' && (length < 24 || length > 64))
    return {
      what: `expected Base64 of 24 to 64 bytes, as Standard Webhooks uses it; it has ${length} bytes`,
      isUsable,
    };
  if (length < 16) return { what: `it has ${length} bytes, and others can guess less than 16`, isUsable };
  return undefined;
}

/** Verifies in constant time that the sender of a request knows the secret. Nothing of the body is parsed before. */
export function isGenuine(
  verify: Verification,
  { headers, bytes }: Pick<RawRequest, 'headers' | 'bytes'>,
  secret: string,
): boolean {
  const key = keyOf(verify, secret);
  const signed = (encoding: BinaryToTextEncoding, ...before: (string | undefined)[]) =>
    createHmac('sha256', key)
      .update(before.map((part) => `${part ?? ''}.`).join(''))
      .update(bytes)
      .digest(encoding);
  switch (verify.by) {
    case 'standard': {
      const [id, timestamp, list = ''] = ['id', 'timestamp', 'signature'].map(
        (part) => headers[standard(headers, part)],
      );
      const expected = `v1,${signed('base64', id, timestamp)}`;
      return list.split(' ').some((given) => isSameText(given, expected));
    }
    case 'hmac': {
      const { header, encoding, prefix, timestamp } = verify;
      const digest = signed(encoding, ...(timestamp === undefined ? [] : [headers[timestamp]]));
      const given = headers[header]?.split(/[,\s]+/).filter((one) => one.startsWith(prefix)) ?? [];
      const values = given.map((one) => one.slice(prefix.length));
      return values.some((value) => isSameText(encoding === 'hex' ? value.toLowerCase() : value, digest));
    }
    case 'token':
      return isSameText(headers[verify.header] ?? '', secret);
  }
}

/** The header that proves who sent a request. */
export const proofOf = (verify: Verification, headers: RawRequest['headers']): string =>
  verify.by === 'standard' ? standard(headers, 'signature') : verify.header;

/** The header with the signed time of a request, in seconds, if it has one. */
export const timeHeaderOf = (verify: Verification, headers: RawRequest['headers']): string | undefined =>
  verify.by === 'standard' ? standard(headers, 'timestamp') : verify.by === 'hmac' ? verify.timestamp : undefined;

/** The name of a header of Standard Webhooks. Some senders keep those of Svix, from before the standard. */
const standard = (headers: RawRequest['headers'], part: string) =>
  `${headers['svix-signature'] === undefined ? 'webhook' : 'svix'}-${part}`;
