import { allowInsecureRequests, customFetch } from 'oauth4webapi';
import { type Answer, exchange, readText, TooLong } from '../exchange.ts';
import { withoutSecrets } from '../outside-text.ts';
import { InstanceFault, OAuthUnavailable } from './oauth-errors.ts';
import { isPrivateHost } from './private-host.ts';

/** How an instance's OAuth endpoints are reached. */
export interface OAuthHttp {
  /** The MCP endpoint. If it is plain http, endpoints on the same host may be too, and no others. */
  endpoint: string;
  fetch: typeof globalThis.fetch;
}

const TIMES = { answerTimeoutMs: 10_000 };
/** A response with one of these must have no body. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * @throws {InstanceFault} if the address must not receive a code or a token. An instance that is not in a private network
 * must not have the relay call hosts in one
 */
export function checkedUrl(value: unknown, what: string, { endpoint }: OAuthHttp): URL {
  const base = new URL(endpoint);
  if (typeof value !== 'string' || !URL.canParse(value)) throw new InstanceFault(endpoint, `${what} is no URL`);
  const url = new URL(value);
  if (url.username || url.password) throw new InstanceFault(value, `${what} carries credentials`);
  const isPlain = url.protocol === 'http:' && base.protocol === 'http:' && url.hostname === base.hostname;
  if (url.protocol !== 'https:' && !isPlain) throw new InstanceFault(value, `${what} is not https`);
  if (isPrivateHost(url.hostname) && !isPrivateHost(base.hostname))
    throw new InstanceFault(value, `${what} is in a private network, and the instance is not`);
  return url;
}

/** GETs a document. @throws {McpUnanswered | InstanceFault} */
export async function getDocument(url: URL, what: string, { fetch }: OAuthHttp): Promise<Response> {
  return asResponse(
    url.href,
    await exchange(fetch, what, url.href, { headers: { accept: 'application/json' } }, TIMES),
  );
}

/**
 * Options for the requests of oauth4webapi.
 * @throws {OAuthUnavailable} for statuses that say nothing about the request
 */
export function requestOptions(what: string, { endpoint, fetch }: OAuthHttp) {
  return {
    // Every address was checked when it was discovered.
    [allowInsecureRequests]: endpoint.startsWith('http:'),
    async [customFetch](url: string, { method, headers, body }: RequestInit): Promise<Response> {
      const sent = { ...(method && { method }), ...(headers && { headers }), ...(body && { body }) };
      const answer = await exchange(fetch, what, url, sent, TIMES);
      if (answer.status >= 500 || answer.status === 429) {
        answer.drop();
        throw new OAuthUnavailable(what, answer.status);
      }
      return asResponse(url, answer, secretsIn(body));
    },
  };
}

function secretsIn(body: unknown): string[] {
  const sent = new URLSearchParams(body instanceof URLSearchParams ? body : '');
  return ['code', 'code_verifier', 'refresh_token'].flatMap((name) => sent.getAll(name));
}

/**
 * The answer with its body read.
 * @param secrets that were sent: a success may repeat a token that is still good, and an error must not
 */
async function asResponse(url: string, answer: Answer, secrets: readonly string[] = []): Promise<Response> {
  const body = await readText(answer).catch((error) => {
    throw error instanceof TooLong ? new InstanceFault(url, `answered with ${error.message}`) : error;
  });
  const headers = new Headers(answer.headers);
  // The body names the error too, but oauth4webapi would not read it.
  headers.delete('www-authenticate');
  const { status } = answer;
  const said = status >= 400 ? withoutSecrets(body, secrets) : body;
  return new Response(WITHOUT_BODY.has(status) ? null : said, { status, headers });
}
