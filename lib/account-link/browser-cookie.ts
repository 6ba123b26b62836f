import { digest } from '../digest.ts';
import { readTicket, STEP_MS } from './link-item.ts';

/** More links than a browser has under way. Each is looked up. */
const MOST_TICKETS = 20;

/**
 * The cookie that binds a link to the browser that opened it. Each person has one for each connection, so that a browser
 * can hold several links that do not meet.
 *
 * `__Host-` has browsers refuse one that another host of the domain sets, or that came without TLS (RFC 6265bis, 4.1.3.2).
 * On this machine, over plain http, no cookie can have that name: there it is one of the host too, but of all ports.
 */
function nameFor(redirectUri: string, ticket: string): string | undefined {
  const read = readTicket(ticket);
  if (!read) return undefined;
  return `${isPlain(redirectUri) ? '' : '__Host-'}account-link-${digest([read.holder.id, read.connection])}`;
}

const isPlain = (redirectUri: string) => redirectUri.startsWith('http:');

/** Lax, because the service sends the browser back by a link of its own. @param ticket as OpenedLinks.open returns it */
export function linkCookie(redirectUri: string, ticket: string): string {
  return cookie(redirectUri, ticket, ticket, STEP_MS / 1000);
}

/** @param ticket of the cookie that is to go */
export function noLinkCookie(redirectUri: string, ticket: string): string {
  return cookie(redirectUri, ticket, '', 0);
}

function cookie(redirectUri: string, ticket: string, value: string, maxAgeSeconds: number): string {
  const secure = isPlain(redirectUri) ? '' : '; Secure';
  return `${nameFor(redirectUri, ticket)}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${secure}`;
}

/**
 * The tickets that a browser sends.
 * @param cookies as a function URL gives them: `name=value`
 */
export function cookieTickets(cookies: readonly string[]): { ticket: string; isFor(redirectUri: string): boolean }[] {
  const tickets = cookies.flatMap((one) => {
    const [, name, ticket] = /^\s*((?:__Host-)?account-link-[0-9a-f]+)=(.+)$/.exec(one) ?? [];
    if (ticket === undefined) return [];
    return [{ ticket, isFor: (redirectUri: string) => nameFor(redirectUri, ticket) === name }];
  });
  return tickets.slice(0, MOST_TICKETS);
}
