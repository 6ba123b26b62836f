import { randomUUID } from 'node:crypto';
import type { Answer } from '../answer.ts';
import { parseObject } from '../decryption.ts';
import { find, type Store } from '../store.ts';
import { OAuthRefusal, oauthAnswer } from './oauth-refusal.ts';
import type { OAuthClient } from './records.ts';
import type { McpRequest } from './request.ts';

/**
 * "Dynamic client registration (RFC 7591); returns a client_id; public client, no client secret". A client that asks
 * for a secret gets none, as the RFC allows. Assumed: registrations do not expire.
 */
export function register(store: Store, { body, nowMs }: McpRequest): Answer {
  const { redirect_uris, client_name = '' } = metadataOf(body);
  if (!Array.isArray(redirect_uris) || redirect_uris.length === 0 || !redirect_uris.every(isRedirectUri)) {
    const rule =
      'redirect_uris must be a list of https URLs, or http URLs of the loopback interface, without a fragment';
    throw new OAuthRefusal(400, 'invalid_redirect_uri', rule);
  }
  if (typeof client_name !== 'string') {
    throw new OAuthRefusal(400, 'invalid_client_metadata', 'client_name must be a string');
  }
  const client: OAuthClient = {
    client_id: randomUUID(),
    client_name,
    redirect_uris,
    client_id_issued_at: Math.floor(nowMs / 1000),
  };
  store.put('oauthClients', client);
  return oauthAnswer(201, {
    ...client,
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  });
}

export function findClient({ data }: Store, client_id: string | null): OAuthClient | undefined {
  return client_id === null ? undefined : find(data.oauthClients, 'client_id', client_id);
}

/**
 * Whether a client registered the URI: verbatim, except for the port of a loopback address (OAuth 2.1, section 8.4.2).
 */
export function isRegistered(client: OAuthClient, redirectUri: string): boolean {
  return client.redirect_uris.some((registered) => {
    if (registered === redirectUri) return true;
    if (!isLoopback(registered) || !isLoopback(redirectUri)) return false;
    return withoutPort(registered) === withoutPort(redirectUri);
  });
}

function metadataOf(body: Buffer): Record<string, unknown> {
  try {
    return parseObject(body.toString('utf8'), 'The body');
  } catch (error) {
    throw new OAuthRefusal(400, 'invalid_client_metadata', error instanceof Error ? error.message : String(error));
  }
}

/** Assumed: the service accepts the redirect URIs that OAuth 2.1 allows a web client. */
function isRedirectUri(value: unknown): value is string {
  if (typeof value !== 'string' || !URL.canParse(value) || value.includes('#')) return false;
  return new URL(value).protocol === 'https:' || isLoopback(value);
}

function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);
}

function withoutPort(url: string): string {
  const parsed = new URL(url);
  parsed.port = '';
  return parsed.href;
}
