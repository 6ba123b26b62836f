import { allowInsecureRequests, customFetch } from 'oauth4webapi';
import { type Answer, exchange, readText, TooLong } from '../exchange.ts';
import { withoutSecrets } from '../outside-text.ts';
import { InstanceFault, OAuthUnavailable } from './oauth-errors.ts';
import { isPrivateHost } from './private-host.ts';

/** How to reach an instance's OAuth endpoints. */
export interface OAuthHttp {
  /** The MCP endpoint. If it uses plain http, endpoints on the same host may, too. */
  endpoint: string;
  fetch: typeof globalThis.fetch;
}

const TIMES = { answerTimeoutMs: 10_000 };
/** Responses with these statuses must have no body. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * Checks an address. An instance outside private networks must not make the relay call hosts inside one.
 * @throws {InstanceFault} if the address must not receive a code or token
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
 * Returns options for the requests of oauth4webapi.
 * @throws {OAuthUnavailable} for statuses that say nothing about the request
 */
export function requestOptions(what: string, { endpoint, fetch }: OAuthHttp) {
  return {
    // Discovery has already checked every address.
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
 * Returns the answer with its body read.
 * @param secrets the sent secrets: a success may repeat a valid token, but an error must not
 */
async function asResponse(url: string, answer: Answer, secrets: readonly string[] = []): Promise<Response> {
  const body = await readText(answer).catch((error) => {
    throw error instanceof TooLong ? new InstanceFault(url, `answered with ${error.message}`) : error;
  });
  const headers = new Headers(answer.headers);
  // The body contains the error, too, but oauth4webapi would not read it with this header.
  headers.delete('www-authenticate');
  const { status } = answer;
  const said = status >= 400 ? withoutSecrets(body, secrets) : body;
  return new Response(WITHOUT_BODY.has(status) ? null : said, { status, headers });
}
