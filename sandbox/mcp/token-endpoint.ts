import { createHash } from 'node:crypto';
import type { Answer } from '../answer.ts';
import { findClient } from './clients.ts';
import type { TokenAnswer } from './grants.ts';
import { OAuthRefusal, oauthAnswer } from './oauth-refusal.ts';
import type { McpParts } from './parts.ts';
import type { McpRequest } from './request.ts';

/**
 * "Exchanges the authorization code plus PKCE verifier for an access token and a refresh token", and refreshes them.
 */
export function exchange(parts: McpParts, { body, headers, nowMs }: McpRequest): Answer {
  if (!String(headers['content-type']).includes('application/x-www-form-urlencoded')) {
    throw new OAuthRefusal(400, 'invalid_request', 'The content type must be application/x-www-form-urlencoded');
  }
  const form = new URLSearchParams(body.toString('utf8'));
  const client_id = form.get('client_id');
  const client = findClient(parts.store, client_id);
  if (!client) throw new OAuthRefusal(401, 'invalid_client', 'The client is unknown; register again');
  switch (form.get('grant_type')) {
    case 'authorization_code':
      return oauthAnswer(200, exchangeCode(parts, form, client.client_id, nowMs));
    case 'refresh_token':
      return oauthAnswer(200, refresh(parts, form, client.client_id, nowMs));
    default:
      throw new OAuthRefusal(400, 'unsupported_grant_type', 'grant_type must be authorization_code or refresh_token');
  }
}

function exchangeCode(
  { codes, grants }: McpParts,
  form: URLSearchParams,
  client_id: string,
  nowMs: number,
): TokenAnswer {
  const code = required(form, 'code');
  const verifier = required(form, 'code_verifier');
  const approval = codes.find(code);
  const grant = approval && grants.find(approval.grant_id);
  if (!approval || !grant || approval.client_id !== client_id || nowMs > approval.expiresAt) {
    throw new OAuthRefusal(400, 'invalid_grant', 'The code is unknown or has expired');
  }
  if (approval.used) {
    // "SHOULD revoke … all access tokens and refresh tokens previously issued" (OAuth 2.1, 4.1.3); assumed.
    grants.end(grant, 'revoked');
    throw new OAuthRefusal(400, 'invalid_grant', 'The code has been used');
  }
  const redirectUri = form.get('redirect_uri');
  if (redirectUri !== null && redirectUri !== approval.redirect_uri) {
    throw new OAuthRefusal(400, 'invalid_grant', 'redirect_uri is not that of the authorization');
  }
  if (createHash('sha256').update(verifier).digest('base64url') !== approval.code_challenge) {
    throw new OAuthRefusal(400, 'invalid_grant', 'code_verifier does not match code_challenge');
  }
  refuseOtherResource(form, approval.resource);
  codes.use(code);
  return grants.issue(grant, nowMs);
}

function refresh({ grants }: McpParts, form: URLSearchParams, client_id: string, nowMs: number): TokenAnswer {
  const refreshToken = required(form, 'refresh_token');
  const grant = grants.verify(refreshToken, client_id, nowMs);
  refuseOtherResource(form, grant.resource);
  grants.rotate(refreshToken);
  const asked = form.get('scope')?.split(' ');
  return grants.issue(grant, nowMs, asked ? grant.scopes.filter((scope) => asked.includes(scope)) : grant.scopes);
}

/** RFC 8707: the resource of a token request must be the resource of the authorization. */
function refuseOtherResource(form: URLSearchParams, resource: string): void {
  const asked = form.get('resource');
  if (asked !== null && asked !== resource) {
    throw new OAuthRefusal(400, 'invalid_target', 'resource is not that of the authorization');
  }
}

function required(form: URLSearchParams, field: string): string {
  const value = form.get(field);
  if (value === null || value === '') throw new OAuthRefusal(400, 'invalid_request', `${field} is required`);
  return value;
}
