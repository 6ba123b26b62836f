import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/**
 * Why a request is refused at an endpoint that is for this start's own processes; undefined for one of theirs. They
 * know the key of the start, as a bearer token or as the access key of a signature. Other users of the machine reach
 * the port too. So does a web page, by an address of its own (the Host header) or from its origin.
 */
export function refusalOf(
  { host = '', origin, authorization = '' }: Pick<IncomingHttpHeaders, 'host' | 'origin' | 'authorization'>,
  key: string,
): string | undefined {
  if (origin !== undefined) return 'web pages may not ask here';
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host)) return 'ask at 127.0.0.1';
  const [, bearer, accessKeyId] = /^(?:Bearer (\S+)$|AWS4-HMAC-SHA256 Credential=([^/]+)\/)/.exec(authorization) ?? [];
  const given = Buffer.from(bearer ?? accessKeyId ?? '');
  const expected = Buffer.from(key);
  if (given.length === expected.length && timingSafeEqual(given, expected)) return undefined;
  return 'the key is not that of the relay that runs';
}
