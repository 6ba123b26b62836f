import type { AccessToken } from './access-token.ts';
import { codes, McpRefusal } from './mcp-refusal.ts';
import type { McpParts } from './parts.ts';
import type { Caller, McpRequest } from './request.ts';
import { memberOf } from './workspaces.ts';

/**
 * Counts a call for its IP address (docs/partner-api.md#limits). Assumed: refused requests count, too, and the limits
 * come before all other checks.
 */
export function countCall({ limiter }: McpParts, { ip }: McpRequest, clockMs: number): void {
  const waitMs = limiter.waitMs(ip, clockMs);
  limiter.count(ip, clockMs);
  if (waitMs > 0) throw new McpRefusal(429, 'Rate limit exceeded', { code: codes.rateLimited });
}

/** "Servers MUST validate the Origin header on all incoming connections to prevent DNS rebinding" (the protocol). */
export function refuseWebPages({ headers }: McpRequest): void {
  const { origin } = headers;
  if (origin === undefined || /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(origin)) return;
  throw new McpRefusal(403, 'Web pages may not call here');
}

/**
 * Returns the caller of a bearer token. The checks follow the rows of docs/partner-api.md#mcp-errors, in their order
 * (assumed).
 */
export function admitBearer({ grants, workspaces, resource }: McpParts, request: McpRequest): Caller {
  const bearer = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (bearer === undefined) throw new McpRefusal(401, 'A bearer token is required', { error: 'invalid_request' });
  const token = grants.read(bearer);
  if (token === undefined) return refuseToken(401, 'The signature of the token is invalid');
  if (request.nowMs >= token.exp * 1000) return refuseToken(401, 'The token has expired');
  const grant = grants.find(token.grant_id);
  if (grant?.state === 'revoked') return refuseToken(401, 'The token has been revoked');
  if (grant?.state !== 'active') return refuseToken(401, 'No consent is recorded for this token');
  // "A scope is usable only when the workspace allows it and the user approves it", also after the consent.
  const workspace = workspaces.find(grant.workspace_id);
  const scopes = scopesOf(token).filter((scope) => workspace?.mcp_scopes.includes(scope));
  if (!scopes.includes('mcp:use')) {
    const scope = 'mcp:use';
    throw new McpRefusal(403, 'The token lacks the scope mcp:use', { error: 'insufficient_scope', scope });
  }
  if (token.aud !== resource()) return refuseToken(403, 'The token was issued for another resource');
  if (!workspace?.mcp_enabled || !memberOf(workspace, grant.user_id)) {
    return refuseToken(403, 'MCP is disabled for this workspace, or the person has left it');
  }
  return { user_id: grant.user_id, workspace, scopes, client: grant.client_id };
}

function scopesOf({ scope }: AccessToken): string[] {
  return scope.split(' ');
}

function refuseToken(status: 401 | 403, message: string): never {
  throw new McpRefusal(status, message, { error: 'invalid_token' });
}
