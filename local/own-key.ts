import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/**
 * Returns why an endpoint for this start's own processes refuses a request; undefined if it is allowed. These processes
 * have the start's key, and send it as a bearer token or as the access key of a signature. The port can also be reached
 * by other users of the machine, and by web pages, under their own host name (the Host header) or from their own
 * origin.
 */
export function refusalOf(
  { host = '', origin, authorization = '' }: Pick<IncomingHttpHeaders, 'host' | 'origin' | 'authorization'>,
  key: string,
): string | undefined {
  if (origin !== undefined) return 'requests from web pages are not allowed';
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host)) return 'use the address 127.0.0.1';
  const [, bearer, accessKeyId] = /^(?:Bearer (\S+)$|AWS4-HMAC-SHA256 Credential=([^/]+)\/)/.exec(authorization) ?? [];
  const given = Buffer.from(bearer ?? accessKeyId ?? '');
  const expected = Buffer.from(key);
  if (given.length === expected.length && timingSafeEqual(given, expected)) return undefined;
  return 'the key does not belong to the running relay';
}
