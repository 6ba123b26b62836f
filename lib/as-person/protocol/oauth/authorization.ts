import {
  AuthorizationResponseError,
  authorizationCodeGrantRequest,
  calculatePKCECodeChallenge,
  generateRandomCodeVerifier,
  generateRandomState,
  None,
  OperationProcessingError,
  processAuthorizationCodeResponse,
  processRefreshTokenResponse,
  ResponseBodyError,
  refreshTokenGrantRequest,
  type TokenEndpointResponse,
  validateAuthResponse,
} from 'oauth4webapi';
import type { Discovered, TokenServer } from './discovery.ts';
import { InstanceFault, OAuthRefusal, OAuthUnavailable } from './oauth-errors.ts';
import { type OAuthHttp, requestOptions } from './oauth-http.ts';

/** The state of an authorization from its start to its callback. `state` and `verifier` are secrets of one browser. */
export interface Authorization {
  clientId: string;
  redirectUri: string;
  state: string;
  verifier: string;
  /** The requested scopes. A service that grants all of them need not repeat them. */
  scopes: readonly string[];
}

/** The answer of the token endpoint. */
export interface Tokens {
  accessToken: string;
  refreshToken: string | undefined;
  /** Undefined if the service does not say. */
  expiresInSeconds: number | undefined;
  /** The granted scopes; undefined if they are the requested ones. */
  scopes: readonly string[] | undefined;
}

/**
 * Begins an authorization with PKCE.
 * @returns the address to open in the browser, and the state to keep until the callback
 */
export async function beginAuthorization(
  { server, resource }: Pick<Discovered, 'server' | 'resource'>,
  client: Pick<Authorization, 'clientId' | 'redirectUri' | 'scopes'>,
): Promise<{ url: string; authorization: Authorization }> {
  const authorization = { ...client, state: generateRandomState(), verifier: generateRandomCodeVerifier() };
  const url = new URL(String(server.authorization_endpoint));
  const parameters = {
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: client.redirectUri,
    ...(client.scopes.length > 0 && { scope: client.scopes.join(' ') }),
    state: authorization.state,
    code_challenge: await calculatePKCECodeChallenge(authorization.verifier),
    code_challenge_method: 'S256',
    resource,
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { url: url.href, authorization };
}

/** The resource, and the authorization server that issues its tokens. */
interface TokenSource {
  server: TokenServer;
  resource: string;
}

/**
 * Exchanges the code of a callback. If the server's metadata promise an `iss`, the callback must contain it.
 *
 * @param callback the query of the callback
 * @throws {OAuthRefusal} also for a callback with `access_denied`
 * @throws {InstanceFault} for a callback with another state or issuer, and for a malformed answer of the token endpoint
 * @throws {OAuthUnavailable | McpUnanswered}
 */
export async function finishAuthorization(
  { server, resource }: TokenSource,
  { clientId, redirectUri, state, verifier }: Authorization,
  callback: URLSearchParams,
  http: OAuthHttp,
): Promise<Tokens> {
  const client = { client_id: clientId };
  const at = server.token_endpoint;
  return tokensFrom(at, 'token exchange', async (what) => {
    const checked = validateAuthResponse(server, client, callback, state);
    const options = { ...requestOptions(what, http), additionalParameters: { resource } };
    const response = await authorizationCodeGrantRequest(
      server,
      client,
      None(),
      checked,
      redirectUri,
      verifier,
      options,
    );
    return processAuthorizationCodeResponse(server, client, response);
  });
}

/**
 * Exchanges a refresh token. The service rotates it, so the old one no longer works.
 *
 * @throws {OAuthRefusal | InstanceFault | OAuthUnavailable | McpUnanswered}
 */
export async function refreshTokens(
  { server, resource }: TokenSource,
  { clientId, refreshToken }: { clientId: string; refreshToken: string },
  http: OAuthHttp,
): Promise<Tokens> {
  const client = { client_id: clientId };
  return tokensFrom(server.token_endpoint, 'refresh', async (what) => {
    const options = { ...requestOptions(what, http), additionalParameters: { resource } };
    const response = await refreshTokenGrantRequest(server, client, None(), refreshToken, options);
    // OAuth refuses in JSON. Another answer comes from a gateway, so the token was not exchanged.
    if (response.status >= 400 && !isJson(response)) throw new OAuthUnavailable(what, response.status);
    return processRefreshTokenResponse(server, client, response);
  });
}

const isJson = ({ headers }: Response) => /^application\/json\b/i.test(headers.get('content-type') ?? '');

async function tokensFrom(
  at: string,
  what: string,
  request: (what: string) => Promise<TokenEndpointResponse>,
): Promise<Tokens> {
  try {
    const { access_token, refresh_token, expires_in, scope, token_type } = await request(what);
    if (token_type !== 'bearer') throw new InstanceFault(at, 'the token is not a bearer token');
    if (![access_token, refresh_token ?? 'none'].every((token) => /^[\x21-\x7e]{1,8192}$/.test(token))) {
      throw new InstanceFault(at, 'the token cannot be sent in a header');
    }
    return {
      accessToken: access_token,
      refreshToken: refresh_token,
      expiresInSeconds: expires_in,
      scopes: scope?.split(/\s+/).filter((one) => one !== ''),
    };
  } catch (error) {
    if (error instanceof ResponseBodyError || error instanceof AuthorizationResponseError) {
      throw new OAuthRefusal(what, error.error, error.error_description);
    }
    // The message names the violated rule of OAuth. The cause contains the whole answer with the tokens, so it is not
    // passed on.
    if (error instanceof OperationProcessingError) throw new InstanceFault(at, error.message);
    throw error;
  }
}
