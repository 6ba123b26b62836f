import { supported } from './scopes.ts';

/** The paths of the endpoints, after the base URL. */
export const paths = {
  protectedResource: '/.well-known/oauth-protected-resource',
  authorizationServer: '/.well-known/oauth-authorization-server',
  register: '/oauth/register',
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  mcp: '/mcp/partner',
} as const;

/** RFC 9728. docs/partner-api.md#mcp-endpoint shows only the path; the fields come from the MCP specification. */
export function protectedResource(baseUrl: string): Record<string, unknown> {
  return {
    resource: `${baseUrl}${paths.mcp}`,
    authorization_servers: [baseUrl],
    scopes_supported: supported,
    bearer_methods_supported: ['header'],
  };
}

/**
 * RFC 8414. "Advertises authorization_endpoint, token_endpoint, registration_endpoint, scopes_supported, PKCE method
 * S256". The RFC also requires issuer and response_types_supported. The other fields are assumed.
 */
export function authorizationServer(baseUrl: string): Record<string, unknown> {
  return {
    issuer: baseUrl,
    authorization_endpoint: `${baseUrl}${paths.authorize}`,
    token_endpoint: `${baseUrl}${paths.token}`,
    registration_endpoint: `${baseUrl}${paths.register}`,
    scopes_supported: supported,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  };
}
