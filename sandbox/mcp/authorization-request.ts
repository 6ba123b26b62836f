import type { Answer } from '../answer.ts';
import type { Store } from '../store.ts';
import { findClient, isRegistered } from './clients.ts';
import { errorPage } from './pages.ts';
import type { OAuthClient } from './records.ts';

/** The parameters with which a client opens the browser. */
export interface AuthorizationRequest {
  client: OAuthClient;
  redirect_uri: string;
  state: string | null;
  scope: string | null;
  code_challenge: string;
  resource: string;
}

/** Redirects to the client, with the issuer (RFC 9207). */
export function backToClient(
  { redirect_uri, state }: Pick<AuthorizationRequest, 'redirect_uri' | 'state'>,
  issuer: string,
  parameters: Readonly<Record<string, string>>,
): Answer {
  const url = new URL(redirect_uri);
  for (const [name, value] of Object.entries({ ...parameters, iss: issuer })) url.searchParams.set(name, value);
  if (state !== null) url.searchParams.set('state', state);
  const { error, error_description } = parameters;
  return {
    status: 302,
    headers: { location: url.href, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
    body: '',
    reason: error === undefined ? null : `${error}: ${error_description}`,
  };
}

/**
 * Returns the request, or an answer that says what is wrong with it: a redirect to the client, or a page if that is not
 * possible.
 */
export function readAuthorizationRequest(
  store: Store,
  query: URLSearchParams,
  issuer: string,
): { request: AuthorizationRequest } | { answer: Answer } {
  const client = findClient(store, query.get('client_id'));
  if (!client) return { answer: errorPage(400, 'The application is unknown here. It has to register again.') };
  const redirect_uri = query.get('redirect_uri');
  if (redirect_uri === null || !isRegistered(client, redirect_uri)) {
    return { answer: errorPage(400, 'The application gave a redirect_uri that it has not registered.') };
  }
  const state = query.get('state');
  const refuse = (error: string, error_description: string) => ({
    answer: backToClient({ redirect_uri, state }, issuer, { error, error_description }),
  });
  if (query.get('response_type') !== 'code') return refuse('unsupported_response_type', 'response_type must be code');
  const code_challenge = query.get('code_challenge') ?? '';
  if (!/^[\w-]{43}$/.test(code_challenge) || query.get('code_challenge_method') !== 'S256') {
    return refuse('invalid_request', 'PKCE with the method S256 is required');
  }
  // Tokens are for the resource that the client names, verbatim. Without one, they are for the whole service, and the
  // MCP endpoint refuses them (both assumed).
  const resource = query.get('resource') ?? issuer;
  if (resource !== issuer && !resource.startsWith(`${issuer}/`)) {
    return refuse('invalid_target', 'resource is not of this service');
  }
  return { request: { client, redirect_uri, state, scope: query.get('scope'), code_challenge, resource } };
}
