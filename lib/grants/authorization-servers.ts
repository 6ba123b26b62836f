import type { AuthorizationServer } from 'oauth4webapi';
import { authorizationServer } from '../mcp/discovery.ts';
import type { OAuthHttp } from '../mcp/oauth-http.ts';

/** For so long this process trusts what it has read. */
const KNOWN_FOR_MS = 10 * 60_000;

/** Reads the metadata of authorization servers, and remembers it in this process. @throws as `authorizationServer` */
export function createAuthorizationServers(http: OAuthHttp, clock: () => number) {
  const known = new Map<string, { server: AuthorizationServer; until: number }>();
  return async (issuer: string): Promise<AuthorizationServer> => {
    const last = known.get(issuer);
    if (last && last.until > clock()) return last.server;
    const server = await authorizationServer(issuer, http);
    known.set(issuer, { server, until: clock() + KNOWN_FOR_MS });
    return server;
  };
}
