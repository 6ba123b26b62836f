import { createMcpClient } from '../protocol/client.ts';
import { McpRefusal, McpUnreadable } from '../protocol/errors.ts';
import { type Authorization, beginAuthorization, finishAuthorization } from '../protocol/oauth/authorization.ts';
import type { Challenge } from '../protocol/oauth/challenge.ts';
import { discover, type TokenServer } from '../protocol/oauth/discovery.ts';
import { InstanceFault } from '../protocol/oauth/oauth-errors.ts';
import type { OAuthHttp } from '../protocol/oauth/oauth-http.ts';
import { registerClient } from '../protocol/oauth/registration.ts';
import { scopesToAsk } from '../protocol/oauth/scopes.ts';
import type { Transport } from '../protocol/transport.ts';
import type { NewGrant } from './grants.ts';

/** The state of a link from its start to its callback, as JSON. It contains secrets of one browser. */
export interface PendingLink {
  connection: string;
  server: TokenServer;
  resource: string;
  authorization: Authorization;
}

export interface ScopesAsked {
  only?: readonly string[] | undefined;
  also?: readonly string[] | undefined;
}

/** Links accounts on one connection. The person uses the browser between `begin` and `finish`. */
export function createAccountLink(connection: string, transport: Transport) {
  const http: OAuthHttp = { endpoint: transport.endpoint, fetch: transport.fetch };

  /**
   * Returns the challenge of the endpoint's answer to a request without a token.
   * @throws {InstanceFault} if there is no such endpoint
   */
  async function askForChallenge(): Promise<Challenge | null> {
    try {
      await createMcpClient(transport).initialize(undefined);
      return null;
    } catch (error) {
      if (!(error instanceof McpRefusal || error instanceof McpUnreadable)) throw error;
      if (error.status === 404) throw new InstanceFault(transport.endpoint, 'the instance has no MCP endpoint there');
      if (error instanceof McpUnreadable) throw new InstanceFault(transport.endpoint, error.message, { cause: error });
      return error.challenge;
    }
  }

  /**
   * @param redirectUri the address to which the service sends the browser back; used by this connection alone (RFC
   *   9700, 4.4)
   * @param asked `only`: request just these scopes. `also`: request these and the scopes of
   *   docs/partner-api.md#mcp-scopes that the instance lists
   * @returns the address to open in the person's browser, and the state to keep until the callback
   * @throws {InstanceFault} with the instance's fault
   * @throws {OAuthRefusal | OAuthUnavailable | McpError} and the errors of the transport's permit
   */
  async function begin(redirectUri: string, { only, also = [] }: ScopesAsked = {}) {
    const { server, resource, ...scopes } = await discover(await askForChallenge(), http);
    const asked = only ?? [...new Set([...scopesToAsk(scopes), ...also])];
    // Registers again for each link: the service may forget a registration, and would tell only the browser.
    const clientId = await registerClient(server, redirectUri, http);
    const { url, authorization } = await beginAuthorization(
      { server, resource },
      { clientId, redirectUri, scopes: asked },
    );
    const pending: PendingLink = { connection, server: tokenServer(server), resource, authorization };
    return { url, pending };
  }

  return {
    begin,
    /**
     * @param callback the query of the callback
     * @returns the grant, which is not stored yet: pass it to `Grants.link` once its person is known
     * @throws {OAuthRefusal} with `access_denied` if the person or the workspace refused
     * @throws {InstanceFault | OAuthUnavailable | McpUnanswered}
     */
    async finish({ server, resource, authorization }: PendingLink, callback: URLSearchParams): Promise<NewGrant> {
      const { clientId, scopes: asked } = authorization;
      const { issuer, token_endpoint: tokenEndpoint } = server;
      const tokens = await finishAuthorization({ server, resource }, authorization, callback, http);
      return { connection, issuer, tokenEndpoint, clientId, resource, asked, tokens };
    },
  };
}

function tokenServer({ issuer, token_endpoint, ...metadata }: TokenServer): TokenServer {
  const { authorization_response_iss_parameter_supported: promisesIss = false } = metadata;
  return { issuer, token_endpoint, authorization_response_iss_parameter_supported: promisesIss };
}
