import {
  type AuthorizationServer,
  JSON_ATTRIBUTE_COMPARISON,
  OperationProcessingError,
  processDiscoveryResponse,
} from 'oauth4webapi';
import { isRecord } from '../../../outside.ts';
import type { Challenge } from './challenge.ts';
import { InstanceFault, OAuthUnavailable } from './oauth-errors.ts';
import { checkedUrl, getDocument, type OAuthHttp } from './oauth-http.ts';

/** The facts about an authorization server that the relay needs: its identity, and where to send codes and tokens. */
export type TokenServer = Pick<AuthorizationServer, 'issuer' | 'authorization_response_iss_parameter_supported'> & {
  token_endpoint: string;
};

/** How an instance is protected. */
export interface Discovered {
  /** The MCP endpoint's identifier in the instance's spelling, for `resource` in requests (RFC 8707). */
  resource: string;
  server: AuthorizationServer & TokenServer;
  /** The scopes in the challenge, possibly of a single request. */
  challenged: readonly string[];
  /** The scopes listed by the resource, or otherwise by the authorization server. */
  listed: readonly string[];
}

/**
 * Discovers how the MCP endpoint is protected. Reads the document that the challenge names, or the document at the
 * well-known paths (RFC 9728, section 3), and then the document of the authorization server (RFC 8414). Checks
 * everything that the standards allow to check.
 *
 * @param challenge the challenge in the 401 answer to a request without a token
 * @throws {InstanceFault} with the instance's fault
 * @throws {OAuthUnavailable | McpUnanswered}
 */
export async function discover(challenge: Challenge | null, http: OAuthHttp): Promise<Discovered> {
  const { url, document } = await firstDocument(resourceAddresses(challenge, http), 'discovery of the resource', http);
  const { resource, authorization_servers: servers, scopes_supported: supported } = document;
  if (typeof resource !== 'string' || !isFor(resource, http.endpoint)) {
    throw new InstanceFault(url.href, `it is about another resource than ${http.endpoint}`);
  }
  const [issuer] = Array.isArray(servers) ? servers : [];
  const server = await authorizationServer(issuer, http);
  return {
    resource,
    server,
    challenged: challenge?.scopes ?? [],
    listed: texts(supported) ?? texts(server.scopes_supported) ?? [],
  };
}

async function authorizationServer(issuer: unknown, http: OAuthHttp): Promise<Discovered['server']> {
  const expected = checkedUrl(issuer, 'the authorization server', http);
  const found = await firstDocument(serverAddresses(expected), 'discovery of the authorization server', http);
  const server = await ofIssuer(expected, found);
  for (const name of ['authorization_endpoint', 'token_endpoint'] as const) {
    if (server[name] === undefined) throw new InstanceFault(found.url.href, `it has no ${name}`);
    checkedUrl(server[name], name, http);
  }
  if (server.registration_endpoint !== undefined)
    checkedUrl(server.registration_endpoint, 'registration_endpoint', http);
  if (!texts(server.code_challenge_methods_supported)?.includes('S256')) {
    throw new InstanceFault(found.url.href, 'the authorization server does not offer PKCE with S256');
  }
  return { ...server, token_endpoint: String(server.token_endpoint) };
}

async function ofIssuer(expected: URL, { url, document }: FoundDocument): Promise<AuthorizationServer> {
  try {
    return await processDiscoveryResponse(expected, Response.json(document));
  } catch (error) {
    if (!(error instanceof OperationProcessingError)) throw error;
    const isOther = error.code === JSON_ATTRIBUTE_COMPARISON;
    const what = isOther ? `it names another issuer than ${expected.href}` : 'it has no issuer';
    throw new InstanceFault(url.href, what, { cause: error });
  }
}

interface FoundDocument {
  url: URL;
  document: Readonly<Record<string, unknown>>;
}

/** Returns the first document that one of the addresses has. */
async function firstDocument(addresses: readonly URL[], what: string, http: OAuthHttp): Promise<FoundDocument> {
  const answers: string[] = [];
  for (const url of addresses) {
    const response = await getDocument(url, what, http);
    const { status } = response;
    if (status >= 500 || status === 429) throw new OAuthUnavailable(url.href, status);
    if (status >= 300 && status < 400) throw new InstanceFault(url.href, 'answered with a redirect');
    if (status === 200) return { url, document: await asDocument(url, response) };
    answers.push(`${url.href} answers ${status}`);
  }
  throw new InstanceFault(
    http.endpoint,
    `no OAuth metadata was found: ${answers.join(', ')}. Does the instance have MCP?`,
  );
}

async function asDocument(url: URL, response: Response): Promise<FoundDocument['document']> {
  const document: unknown = await response.json().catch(() => undefined);
  if (isRecord(document)) return document;
  throw new InstanceFault(url.href, 'answered with something else than a JSON object');
}

/** @throws {InstanceFault} if a challenge names another host */
function resourceAddresses(challenge: Challenge | null, http: OAuthHttp): URL[] {
  const endpoint = new URL(http.endpoint);
  const wellKnown = '/.well-known/oauth-protected-resource';
  const usual = [new URL(wellKnown + endpoint.pathname, endpoint), new URL(wellKnown, endpoint)];
  if (!challenge?.resourceMetadata) return usual;
  const named = checkedUrl(challenge.resourceMetadata, 'resource_metadata of the challenge', http);
  if (named.origin !== endpoint.origin) {
    throw new InstanceFault(named.href, `resource_metadata of the challenge is not on ${endpoint.origin}`);
  }
  return [named, ...usual.filter(({ href }) => href !== named.href)];
}

/**
 * The paths of RFC 8414, section 3.1, and OpenID Connect Discovery; the last is in docs/partner-api.md#mcp-endpoint.
 */
function serverAddresses(issuer: URL): URL[] {
  const path = issuer.pathname.replace(/\/$/, '');
  const paths = [
    `/.well-known/oauth-authorization-server${path}`,
    `/.well-known/openid-configuration${path}`,
    `${path}/.well-known/openid-configuration`,
    `${path}/.well-known/oauth-authorization-server`,
  ];
  return [...new Set(paths)].map((path) => new URL(path, issuer));
}

/** True if the resource is the endpoint, or a path above it on the same host. */
function isFor(resource: string, endpoint: string): boolean {
  if (!URL.canParse(resource)) return false;
  const [outer, inner] = [new URL(resource), new URL(endpoint)];
  const path = outer.pathname.replace(/\/$/, '');
  return outer.origin === inner.origin && (inner.pathname === path || inner.pathname.startsWith(`${path}/`));
}

function texts(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : undefined;
}
