import { type AuthorizationServer, dynamicClientRegistrationRequest } from 'oauth4webapi';
import { isRecord } from '../../../outside.ts';
import { InstanceFault, OAuthRefusal } from './oauth-errors.ts';
import { type OAuthHttp, requestOptions } from './oauth-http.ts';

/** The relay's name on the consent page. */
const CLIENT_NAME = 'Partner Relay';

/**
 * Registers the relay as a public client (RFC 7591; docs/partner-api.md#mcp-endpoint).
 *
 * @returns the client id
 * @throws {InstanceFault | OAuthRefusal | OAuthUnavailable | McpUnanswered}
 */
export async function registerClient(
  server: AuthorizationServer,
  redirectUri: string,
  http: OAuthHttp,
): Promise<string> {
  const at = server.registration_endpoint;
  if (at === undefined) throw new InstanceFault(server.issuer, 'the authorization server does not register clients');
  const metadata = {
    client_name: CLIENT_NAME,
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    // OpenID Connect requires a loopback address for native clients, and https for all others.
    application_type: redirectUri.startsWith('http:') ? 'native' : 'web',
  };
  const response = await dynamicClientRegistrationRequest(server, metadata, requestOptions('registration', http));
  // oauth4webapi accepts only 201, and expects more fields for a secret that the relay did not request.
  const answer: unknown = await response.json().catch(() => undefined);
  if (!isRecord(answer))
    throw new InstanceFault(at, `registration is answered with status ${response.status} and no JSON`);
  if (response.status >= 400 || typeof answer.error === 'string') {
    throw new OAuthRefusal('registration', answer.error, text(answer.error_description));
  }
  const { client_id: clientId, redirect_uris: uris, token_endpoint_auth_method: method = 'none' } = answer;
  if (typeof clientId !== 'string' || !/^[\x20-\x7e]{1,512}$/.test(clientId)) {
    throw new InstanceFault(at, 'registration brings no usable client_id');
  }
  if (method !== 'none') throw new InstanceFault(at, 'registration makes no public client');
  if (Array.isArray(uris) && !uris.includes(redirectUri)) {
    throw new InstanceFault(at, 'registration leaves out the redirect URI that was asked for');
  }
  return clientId;
}

const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
