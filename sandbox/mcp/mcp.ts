/**
 * The service's MCP endpoint and its OAuth flow.
 *
 *     const sandbox = await startSandbox({ clock, mcp: { enabled: true } });
 *     sandbox.mcp.url                          the endpoint
 *     sandbox.mcp.enable(workspace?, scopes?)  an administrator's action; also disable, revokeGrants(user_id?),
 *                                              withdrawConsent(user_id?)
 *     sandbox.mcp.purgeClients()               an event of the service; also endSessions()
 *     sandbox.mcp.people                       the people who can sign in, with email and password
 *     sandbox.mcp.grant(email, { scopes })     tokens without a browser
 *     sandbox.mcp.calls, sandbox.mcp.audit     all tool calls; all requests, with their status
 *     sandbox.data                             the tools' records, and workspaces, clients, grants
 *     sandbox.setFault({ kind: 'cut', when: 'after work', operation: '/oauth/token', call: 'refresh_token', times: 1 })
 *     sandbox.setFault({ kind: 'server-error', operation: '/mcp/partner', call: 'log_time' })
 *     sandbox.setFault({ kind: 'grants-revoked', operation: '/mcp/partner', skip: 3, times: 1 })
 *
 * options.ts has the options, and ../faults.ts the faults. test/sandbox/mcp/consent.ts goes through the pages as a
 * browser does.
 */
import { type Answer, disturbed, type ErrorAnswer, jsonAnswer } from '../answer.ts';
import { delay, type Fault, type Faults, isHappening, skewMsOf, type When } from '../faults.ts';
import { Administration, type McpAuditEntry } from './administration.ts';
import { admitBearer, countCall, refuseWebPages } from './admission.ts';
import { Authorize } from './authorize.ts';
import { callsIn } from './call-names.ts';
import { register } from './clients.ts';
import { authorizationServer, paths, protectedResource } from './discovery.ts';
import { McpRefusal, mcpRefusalAnswer, codes as rpcCodes } from './mcp-refusal.ts';
import { OAuthRefusal, oauthAnswer, oauthRefusalAnswer } from './oauth-refusal.ts';
import type { McpOptions } from './options.ts';
import { createParts, type McpParts, type McpSurroundings } from './parts.ts';
import type { Caller, McpRequest } from './request.ts';
import { exchange } from './token-endpoint.ts';
import { answerTransport } from './transport.ts';

interface Surroundings extends McpSurroundings {
  readonly faults: Faults;
  sleep(ms: number): Promise<unknown>;
}

type Handler = (request: McpRequest) => Answer;

/** "After 31 days": longer than any token lives. */
const expiryMs = 31 * 86_400_000;

export class McpService {
  readonly administration: Administration;
  readonly #surroundings: Surroundings;
  readonly #parts: McpParts;
  readonly #audit: McpAuditEntry[] = [];
  /** The handlers of the OAuth endpoints, by method and path. */
  readonly #handlers: ReadonlyMap<string, Handler>;

  constructor(surroundings: Surroundings, options: McpOptions) {
    const { store, baseUrl } = surroundings;
    const parts = createParts(surroundings, options);
    const authorize = new Authorize(parts);
    this.#surroundings = surroundings;
    this.#parts = parts;
    this.#handlers = new Map<string, Handler>([
      [`GET ${paths.protectedResource}`, () => jsonAnswer(200, protectedResource(baseUrl()))],
      [`GET ${paths.authorizationServer}`, () => jsonAnswer(200, authorizationServer(baseUrl()))],
      [`POST ${paths.register}`, (request) => register(store, request)],
      [`GET ${paths.authorize}`, (request) => authorize.begin(request)],
      [`POST ${paths.authorize}`, (request) => authorize.proceed(request)],
      [`POST ${paths.token}`, (request) => exchange(parts, request)],
    ]);
    this.administration = new Administration(parts, this.#audit);
    if (options.enabled) parts.workspaces.enable();
  }

  /** The path of an endpoint after the base path; undefined if no endpoint has this path. */
  endpointOf(path: string): string | undefined {
    const { basePath } = this.#surroundings;
    // RFC 8414 and RFC 9728 put the base path after the well-known path, docs/partner-api.md#mcp-endpoint before it.
    const wellKnown = [paths.protectedResource, paths.authorizationServer].find((known) => path === known + basePath);
    const endpoint = wellKnown ?? (path.startsWith(basePath) ? path.slice(basePath.length) : '');
    return Object.values<string>(paths).find((known) => known === endpoint);
  }

  /** The answer to a body that is too large to be read to its end. */
  tooLarge(endpoint: string, reason: string): Answer {
    return this.#errorAnswer({ endpoint })(413, reason, reason);
  }

  /** Processes one request in the same stages as the partner API. Resolves to null if the connection must be cut. */
  async answer(arrived: Omit<McpRequest, 'nowMs'>): Promise<Answer | null> {
    const { store, faults: active, clock, sleep } = this.#surroundings;
    const { method, endpoint, ip } = arrived;
    const calls = callsIn(arrived);
    const faults = active.take(endpoint, 'mcp', calls);
    for (const fault of faults.filter(isHappening)) this.administration.happen(fault);
    await delay(sleep, faults, 'on arrival');
    const skewMs = skewMsOf(faults);
    const isExpired = faults.some(({ kind }) => kind === 'token-expired');
    const request = { ...arrived, nowMs: clock() + skewMs + (isExpired ? expiryMs : 0) };
    const answer = await this.#attempt(request, faults);
    const time = new Date(clock() + skewMs).toISOString();
    const { status = null, reason = 'fault: cut' } = answer ?? {};
    this.#audit.push({ time, ip, method, endpoint, calls, status, reason });
    store.commit();
    await delay(sleep, faults, 'after work');
    return answer && { ...answer, headers: { ...answer.headers, date: new Date(clock() + skewMs).toUTCString() } };
  }

  async #attempt(request: McpRequest, faults: readonly Fault[]): Promise<Answer | null> {
    const ready = jsonAnswer(200, {});
    const disturb = (when: When, answer: Answer) => disturbed(faults, when, answer, this.#errorAnswer(request));
    try {
      const stopped = disturb('on arrival', ready);
      if (stopped !== ready) return stopped;
      const caller = this.#admit(request);
      await delay(this.#surroundings.sleep, faults, 'before work');
      const prevented = disturb('before work', ready);
      if (prevented !== ready) return prevented;
      return disturb('after work', told(this.#work(request, caller), request, faults));
    } catch (error) {
      if (error instanceof OAuthRefusal) return oauthRefusalAnswer(error);
      if (error instanceof McpRefusal) return mcpRefusalAnswer(error, this.#metadataUrl);
      throw error;
    }
  }

  /** Checks a request to the MCP endpoint. Undefined for an OAuth endpoint, which makes its own checks. */
  #admit(request: McpRequest): Caller | undefined {
    if (!isMcp(request)) return undefined;
    refuseWebPages(request);
    countCall(this.#parts, request, this.#surroundings.clock());
    return admitBearer(this.#parts, request);
  }

  #work(request: McpRequest, caller: Caller | undefined): Answer {
    if (caller) return answerTransport(this.#parts, caller, request);
    const handler = this.#handlers.get(`${request.method} ${request.endpoint}`);
    if (!handler) throw new OAuthRefusal(405, 'invalid_request', 'Method not allowed');
    return handler(request);
  }

  /** The form of a fault's error at this endpoint. */
  #errorAnswer(request: Pick<McpRequest, 'endpoint'>): ErrorAnswer {
    return (status, message, reason) => {
      if (!isMcp(request)) {
        const error = status === 413 ? 'invalid_request' : 'temporarily_unavailable';
        return oauthAnswer(status, { error, error_description: message }, reason);
      }
      const refusal = new McpRefusal(status, message, status === 429 ? { code: rpcCodes.rateLimited } : {});
      return { ...mcpRefusalAnswer(refusal, this.#metadataUrl), reason };
    };
  }

  get #metadataUrl(): string {
    return `${this.#surroundings.baseUrl()}${paths.protectedResource}`;
  }
}

function isMcp({ endpoint }: Pick<McpRequest, 'endpoint'>): boolean {
  return endpoint === paths.mcp;
}

/** The answer. In a discovery document, faults may change fields. */
function told(answer: Answer, { endpoint }: McpRequest, faults: readonly Fault[]): Answer {
  const fields = faults.flatMap((fault) => (fault.kind === 'discovery' ? [fault.fields] : []));
  const isDocument = endpoint === paths.protectedResource || endpoint === paths.authorizationServer;
  if (!isDocument || fields.length === 0) return answer;
  const changed = Object.entries({ ...JSON.parse(answer.body), ...Object.assign({}, ...fields) });
  return { ...answer, body: JSON.stringify(Object.fromEntries(changed.filter(([, value]) => value !== null))) };
}
