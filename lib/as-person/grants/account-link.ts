import { parsedJson } from '../../text.ts';
import { createMcpClient } from '../protocol/client.ts';
import { McpRefusal, McpUnreadable } from '../protocol/errors.ts';
import { exchange, readText } from '../protocol/exchange.ts';
import { isRecord } from '../protocol/json-rpc.ts';
import { type Authorization, beginAuthorization, finishAuthorization } from '../protocol/oauth/authorization.ts';
import type { Challenge } from '../protocol/oauth/challenge.ts';
import { discover, type TokenServer } from '../protocol/oauth/discovery.ts';
import { InstanceFault, OAuthRefusal } from '../protocol/oauth/oauth-errors.ts';
import type { OAuthHttp } from '../protocol/oauth/oauth-http.ts';
import { scopesToAsk } from '../protocol/oauth/scopes.ts';
import type { Transport } from '../protocol/transport.ts';
import type { NewGrant } from './grants.ts';
import type { Registrations } from './registrations.ts';

/** What is kept from the start of a link to its callback, as JSON. It contains secrets of one browser. */
export interface PendingLink {
  connection: string;
  server: TokenServer;
  resource: string;
  authorization: Authorization;
}

interface ScopesAsked {
  only?: readonly string[] | undefined;
  also?: readonly string[] | undefined;
}

interface AccountLinkOptions {
  connection: string;
  transport: Transport;
  registrations: Registrations;
}

/**
 * If the service refuses a registration, the relay registers again, unless the registration is younger than this: then
 * the fault is elsewhere.
 */
const YOUNG_MS = 60_000;

/** Linking accounts on one connection. The person's browser is between `begin` and `finish`. */
export function createAccountLink(options: AccountLinkOptions) {
  const { connection, transport, registrations } = options;
  const http: OAuthHttp = { endpoint: transport.endpoint, fetch: transport.fetch };

  /**
   * The endpoint's answer to a request without a token.
   * @throws {InstanceFault} if there is no such endpoint
   */
  async function askForChallenge(): Promise<Challenge | null> {
    try {
      await createMcpClient(transport).initialize(undefined);
      return null;
    } catch (error) {
      if (error instanceof McpUnreadable) throw new InstanceFault(transport.endpoint, error.message, { cause: error });
      if (!(error instanceof McpRefusal)) throw error;
      if (error.status === 404) throw new InstanceFault(transport.endpoint, 'the instance has no MCP endpoint there');
      return error.challenge;
    }
  }

  /**
   * @param redirectUri where the service sends the browser back to; one of this connection alone (RFC 9700, 4.4)
   * @param asked only these scopes, or these besides those of docs/partner-api.md#mcp-scopes that the instance lists
   * @returns the address to be opened in the person's browser, and what to keep until the callback
   * @throws {InstanceFault} that says what is wrong with the instance
   * @throws {OAuthRefusal | OAuthUnavailable | McpError} and what the transport's permit throws
   */
  async function begin(redirectUri: string, { only, also = [] }: ScopesAsked = {}) {
    const discovered = await discover(await askForChallenge(), http);
    const asked = only ?? [...new Set([...scopesToAsk(discovered), ...also])];
    for (;;) {
      const { clientId, registeredAt } = await registrations.of(discovered.server, redirectUri);
      const { url, authorization } = await beginAuthorization(discovered, { clientId, redirectUri, scopes: asked });
      const isYoung = registeredAt > transport.clock() - YOUNG_MS;
      if ((await isClientKnown(url, redirectUri)) || isYoung) {
        const { resource, server } = discovered;
        const pending: PendingLink = { connection, server: tokenServer(server), resource, authorization };
        return { url, pending };
      }
      await registrations.forget(redirectUri, clientId);
    }
  }

  /**
   * Whether the service knows the client. If not, only the browser is told (RFC 6749, 4.1.2.1), and the person could
   * try forever. So the relay requests the address once without cookies, which changes nothing.
   *
   * @throws {OAuthRefusal} if the service refuses for another reason, such as MCP that is not enabled
   */
  async function isClientKnown(url: string, redirectUri: string): Promise<boolean> {
    const headers = { accept: 'text/html,application/json;q=0.9' };
    const answer = await exchange(
      transport.fetch,
      'start of the authorization',
      url,
      { headers },
      { answerTimeoutMs: 10_000 },
    );
    const location = answer.headers.get('location');
    if (location?.startsWith(`${redirectUri}?`)) {
      answer.drop();
      const query = new URL(location).searchParams;
      const error = query.get('error');
      if (error === null || needsABrowser.has(error)) return true;
      if (meansForgotten(error)) return false;
      throw new OAuthRefusal('authorization', error, query.get('error_description') ?? undefined);
    }
    if (answer.status < 400 || answer.status >= 500) {
      answer.drop();
      return true;
    }
    const body = await readText(answer).catch(() => '');
    const said = jsonError(body);
    if (said === undefined || meansForgotten(said.error)) return false;
    throw new OAuthRefusal('authorization', said.error, said.description);
  }

  return {
    begin,
    /**
     * @param callback the query of the callback
     * @returns the grant, which is not stored yet: give it to `Grants.link` once its person is known
     * @throws {OAuthRefusal} with `access_denied` where the person or the workspace said no
     * @throws {InstanceFault | OAuthUnavailable | McpUnanswered}
     */
    async finish({ server, resource, authorization }: PendingLink, callback: URLSearchParams): Promise<NewGrant> {
      const { clientId, redirectUri, scopes: asked } = authorization;
      try {
        const tokens = await finishAuthorization({ server, resource }, authorization, callback, http);
        const { issuer, token_endpoint: tokenEndpoint } = server;
        return { connection, issuer, tokenEndpoint, clientId, resource, asked, tokens };
      } catch (error) {
        if (error instanceof OAuthRefusal && meansForgotten(error.error))
          await registrations.forget(redirectUri, clientId);
        throw error;
      }
    },
  };
}

function tokenServer({ issuer, token_endpoint, ...metadata }: TokenServer): TokenServer {
  const { authorization_response_iss_parameter_supported: promisesIss = false } = metadata;
  return { issuer, token_endpoint, authorization_response_iss_parameter_supported: promisesIss };
}

const meansForgotten = (error: string) => error === 'invalid_client' || error === 'unauthorized_client';

/** OpenID Connect's way to say that a person has to sign in first. */
const needsABrowser: ReadonlySet<string> = new Set(['login_required', 'interaction_required', 'consent_required']);

function jsonError(body: string): { error: string; description: string | undefined } | undefined {
  const json = parsedJson(body);
  if (!isRecord(json) || typeof json.error !== 'string') return undefined;
  const { error, error_description: description } = json;
  return { error, description: typeof description === 'string' ? description : undefined };
}
