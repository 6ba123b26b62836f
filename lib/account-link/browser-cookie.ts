import { STEP_MS } from './link-item.ts';

/**
 * The cookie that binds a link to the browser that opened it. `__Host-` has browsers refuse one that another host of the
 * domain sets, or that came without TLS (RFC 6265bis, 4.1.3.2). On this machine, over plain http, no cookie can have that
 * name: there it is one of the host too, but of all ports.
 */
const nameFor = (redirectUri: string) => (isPlain(redirectUri) ? 'account-link' : '__Host-account-link');

const isPlain = (redirectUri: string) => redirectUri.startsWith('http:');

/** Lax, because the service sends the browser back by a link of its own. */
export function linkCookie(redirectUri: string, ticket: string): string {
  return cookie(redirectUri, ticket, STEP_MS / 1000);
}

export function noLinkCookie(redirectUri: string): string {
  return cookie(redirectUri, '', 0);
}

function cookie(redirectUri: string, value: string, maxAgeSeconds: number): string {
  const secure = isPlain(redirectUri) ? '' : '; Secure';
  return `${nameFor(redirectUri)}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${secure}`;
}

/**
 * The tickets that a browser sends.
 * @param cookies as a function URL gives them: `name=value`
 */
export function cookieTickets(cookies: readonly string[]): { ticket: string; isFor(redirectUri: string): boolean }[] {
  return cookies.flatMap((one) => {
    const [, name, ticket] = /^\s*((?:__Host-)?account-link)=(.+)$/.exec(one) ?? [];
    if (ticket === undefined) return [];
    return [{ ticket, isFor: (redirectUri: string) => nameFor(redirectUri) === name }];
  });
}
