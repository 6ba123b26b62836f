import { digest } from '../../digest.ts';
import { STEP_MS } from './grant-requests.ts';

/**
 * The cookie that binds a link to the browser that opened it. Its name is derived from the authorization's state, so
 * that a browser can have several links, and each callback finds its own.
 */
const nameFor = (redirectUri: string, state: string) =>
  `${isPlain(redirectUri) ? '' : '__Host-'}account-link-${digest(state)}`;

const isPlain = (redirectUri: string) => redirectUri.startsWith('http:');

/**
 * SameSite is Lax, because the service sends the browser back with a link.
 * @param ticket as returned by OpenedRequests.open
 */
export function linkCookie(redirectUri: string, state: string, ticket: string): string {
  return cookie(redirectUri, state, ticket, STEP_MS / 1000);
}

/** Returns a header that deletes the cookie. */
export function noLinkCookie(redirectUri: string, state: string): string {
  return cookie(redirectUri, state, '', 0);
}

function cookie(redirectUri: string, state: string, value: string, maxAgeSeconds: number): string {
  const secure = isPlain(redirectUri) ? '' : '; Secure';
  return `${nameFor(redirectUri, state)}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${secure}`;
}

/**
 * Returns the ticket that a browser sends with the callback of a state.
 *
 * @param cookies in the format of a function URL: `name=value`
 * @returns the ticket, and whether its cookie has the name that the redirect URI requires
 */
export function ticketOf(
  cookies: readonly string[],
  state: string,
): { ticket: string; isFor(redirectUri: string): boolean } | undefined {
  const pairs = new Map(cookies.map((one) => one.trimStart().split(/=(.*)/s) as [string, string]));
  const names = ['https:', 'http:'].map((scheme) => nameFor(scheme, state));
  const name = names.find((one) => pairs.has(one));
  const ticket = name && pairs.get(name);
  return ticket ? { ticket, isFor: (redirectUri) => nameFor(redirectUri, state) === name } : undefined;
}
