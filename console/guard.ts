import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { HttpError } from '../lib/state/http/function-url.ts';

/**
 * The headers of every answer. The console's pages load nothing from elsewhere, and no other page may embed or read
 * them.
 */
export const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    // The icon.
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const;

/**
 * Refuses a request for a host name other than this machine's: a web page can point its own host name at 127.0.0.1, and
 * then read the answers as its own (DNS rebinding).
 *
 * @throws {HttpError}
 */
export function checkHost({ headers, socket }: IncomingMessage): void {
  if (ownHosts(socket.localPort).includes(headers.host ?? '')) return;
  throw new HttpError(421, `the console answers at http://127.0.0.1:${socket.localPort} only`);
}

/**
 * Refuses a request without the token, which web pages and other users of the machine do not know, and a request from a
 * page of another origin.
 *
 * @throws {HttpError}
 */
export function checkSender({ headers, method, socket }: IncomingMessage, token: string): void {
  const { origin, authorization = '' } = headers;
  const ownOrigins = ownHosts(socket.localPort).map((host) => `http://${host}`);
  if (origin !== undefined && !ownOrigins.includes(origin)) {
    throw new HttpError(403, 'requests from other web pages are not allowed');
  }
  if (method !== 'GET' && origin === undefined) throw new HttpError(403, 'a change needs the origin of the console');
  // Digests have equal lengths, so the comparison always takes the same time.
  if (!timingSafeEqual(digestOf(authorization), digestOf(`Bearer ${token}`))) {
    throw new HttpError(401, 'the token is missing or wrong: open the address that the relay printed');
  }
}

const ownHosts = (port: number | undefined) => [`127.0.0.1:${port}`, `localhost:${port}`];

const digestOf = (text: string) => createHash('sha256').update(text).digest();
