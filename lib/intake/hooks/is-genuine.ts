import { createHmac } from 'node:crypto';
import type { RawRequest } from '../../state/http/function-url.ts';
import { isSameText, isTimely } from '../../state/http/signatures.ts';
import type { Hmac, Verification } from '../../triggers/webhook.ts';

type Headers = RawRequest['headers'];

/** Returns a secret as a key; empty if it contains nothing that only the sender can know. */
export function keyOf(verify: Keyed, secret: string): Buffer {
  const text = secret.trim().replace(verify.by === 'standard' ? /^(?:v1,)?whsec_/ : /^$/, '');
  if (verify.by === 'standard' || verify.key === 'base64')
    return Buffer.from(/^[\w+/-]+={0,2}$/.test(text) ? text : '', 'base64');
  return Buffer.from(text === '' ? '' : secret);
}

/** The part of a verification that determines how its secret is used. */
export type Keyed = Pick<Verification, 'by'> & { key?: Hmac['key'] };

/** Checks a secret as entered by a person. Returns its fault, and whether it can still verify requests. */
export function secretFault(verify: Keyed, secret: string): { what: string; isUsable: boolean } | undefined {
  const { length } = keyOf(verify, secret);
  const isUsable = length > 0;
  if (verify.by === 'standard' && (length < 24 || length > 64))
    return { what: `expected Base64 of 24 to 64 bytes, as in Standard Webhooks; it has ${length} bytes`, isUsable };
  if (!isUsable && verify.key === 'base64') return { what: 'expected Base64 of the key', isUsable };
  if (length < 16)
    return { what: `the secret has ${length} bytes; enter a random secret of at least 16 bytes`, isUsable };
  return undefined;
}

/**
 * Checks in constant time that the sender of a request knows the secret, before the body is parsed. A request without
 * one of the signed headers or parts is not genuine.
 */
export function isGenuine(
  verify: Verification,
  { headers, bytes }: Pick<RawRequest, 'headers' | 'bytes'>,
  secret: string,
): boolean {
  if (verify.by === 'token') return isSameText(headerIn(headers, verify.header) ?? '', secret);
  const form = formOf(verify, headers);
  const digest = createHmac(form.hash, keyOf(verify, secret));
  for (const piece of form.signs.split(/(\{[^}]*\})/)) {
    const place = /^\{(.*)\}$/.exec(piece)?.[1];
    const value = place === 'body' ? bytes : place === undefined ? piece : valueAt(place, form, headers);
    if (value === undefined) return false;
    digest.update(value);
  }
  const expected = digest.digest(form.encoding);
  const given = piecesOf(form, headers).filter((one) => one.startsWith(form.prefix));
  const values = given.map((one) => one.slice(form.prefix.length));
  return values.some((value) => isSameText(form.encoding === 'hex' ? value.toLowerCase() : value, expected));
}

/** Returns the header that proves the sender. */
export const proofOf = (verify: Verification, headers: Headers): string =>
  verify.by === 'token' ? verify.header : formOf(verify, headers).header;

/** Returns the place of a request's signed time if that time is too far off. */
export function untimely(verify: Verification, headers: Headers, now: number): string | undefined {
  if (verify.by === 'token') return undefined;
  const form = formOf(verify, headers);
  const isLate = form.time !== undefined && !isTimely(valueAt(form.time, form, headers) ?? '', now, form.unit);
  return isLate ? form.time : undefined;
}

/** Returns the HMAC of Standard Webhooks. Some senders use the headers' older names from Svix. */
export function formOf(verify: Exclude<Verification, { by: 'token' }>, headers: Headers): Hmac {
  if (verify.by === 'hmac') return verify;
  const names = headers['svix-signature'] === undefined ? 'webhook' : 'svix';
  return {
    header: `${names}-signature`,
    encoding: 'base64',
    prefix: 'v1,',
    hash: 'sha256',
    key: 'base64',
    signs: `{header:${names}-id}.{header:${names}-timestamp}.{body}`,
    time: `header:${names}-timestamp`,
    unit: 's',
  };
}

/** Returns a request's value at a place such as `part:t` or `header:x-time`; undefined if it is empty. */
function valueAt(place: string, form: Hmac, headers: Headers): string | undefined {
  const name = place.slice(place.indexOf(':') + 1);
  if (place.startsWith('header:')) return headerIn(headers, name) || undefined;
  const part = piecesOf(form, headers).find((one) => one.startsWith(`${name}=`));
  return part?.slice(name.length + 1) || undefined;
}

/** Splits the signature's header. A character in the prefix does not separate pieces: `v1,…` of Standard Webhooks. */
const piecesOf = ({ header, prefix }: Hmac, headers: Headers): string[] =>
  (headerIn(headers, header) ?? '').split(
    new RegExp(`[${[',', ';', ' '].filter((one) => !prefix.includes(one)).join('')}]+`),
  );

const headerIn = (headers: Headers, name: string): string | undefined => headers[name.toLowerCase()];
