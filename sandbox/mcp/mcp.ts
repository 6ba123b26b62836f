/**
 * The MCP endpoint of the service and its OAuth flow.
 *
 *     const sandbox = await startSandbox({ clock, mcp: { enabled: true } });
 *     sandbox.mcp.url                        the endpoint, which is the resource and the audience of tokens
 *     sandbox.mcp.enable(workspace?, scopes?) what the administrator does; likewise disable, revokeGrants(user_id?),
 *                                             withdrawConsent(user_id?)
 *     sandbox.mcp.purgeClients(), endSessions()
 *     sandbox.mcp.people                      who can sign in, with email and password
 *     sandbox.mcp.grant(email, { scopes })    tokens without a browser
 *     sandbox.mcp.calls                       who called which tool with what, and how it was answered
 *     sandbox.data                            the records that the tools work on, and workspaces, grants, clients
 *     sandbox.setFault({ kind: 'cut', when: 'after work', operation: '/oauth/token', call: 'refresh_token', times: 1 })
 *     sandbox.setFault({ kind: 'server-error', operation: '/mcp/partner', call: 'log_time' })
 *
 * test/sandbox/consent.ts goes through the pages as a browser does. Over HTTP, POST /sandbox/mcp does what the
 * administrator does, and GET /sandbox/mcp shows calls, grants, clients and tools.
 */
import { type Answer, type ErrorAnswer, jsonAnswer } from '../answer.ts';
import { delay, disturbance, skewMsOf } from '../disturbances.ts';
import { type Fault, type Faults, type Happening, isHappening } from '../faults.ts';
import type { SandboxKey } from '../keys.ts';
import { RateLimiter } from '../rate-limit.ts';
import type { Store } from '../store.ts';
import { type AdmissionContext, admitBearer, admitKey, countCall } from './admission.ts';
import { Authorize } from './authorize.ts';
import { callsIn } from './call-names.ts';
import type { Caller } from './caller.ts';
import { register } from './clients.ts';
import { Codes } from './codes.ts';
import { authorizationServer, paths, protectedResource } from './discovery.ts';
import { Grants, type TokenAnswer } from './grants.ts';
import { McpRefusal, mcpRefusalAnswer, codes as rpcCodes } from './mcp-refusal.ts';
import { McpSessions } from './mcp-sessions.ts';
import { OAuthRefusal, oauthAnswer, oauthRefusalAnswer } from './oauth-refusal.ts';
import type { McpOptions } from './options.ts';
import { defaultPeople, type Person } from './people.ts';
import type { McpRequest } from './request.ts';
import { clamp } from './scopes.ts';
import { exchange } from './token-endpoint.ts';
import { type ToolCall, ToolCalls } from './tool-calls.ts';
import { Toolbox } from './tools/toolbox.ts';
import { answerTransport, type TransportContext } from './transport.ts';
import { Workspaces } from './workspaces.ts';

export interface McpSurroundings {
  readonly store: Store;
  readonly faults: Faults;
  readonly keys: readonly SandboxKey[];
  /** The path in front of all endpoints. */
  readonly basePath: string;
  baseUrl(): string;
  clock(): number;
  sleep(ms: number): Promise<unknown>;
}

/** Shown to tests as `sandbox.mcp`. */
export interface Mcp {
  readonly url: string;
  readonly people: readonly Person[];
  readonly calls: readonly ToolCall[];
  /** How many requests have come in for the MCP and OAuth endpoints. */
  readonly requests: number;
  enable(workspace_id?: string, scopes?: readonly string[]): void;
  disable(workspace_id?: string): void;
  /** Of one person, or of everyone. */
  revokeGrants(user_id?: string): void;
  withdrawConsent(user_id?: string): void;
  purgeClients(): void;
  endSessions(): void;
  /** Tokens of a new client, for a person and all scopes or some, in the first workspace or another. */
  grant(
    email: string,
    asked?: { scopes?: readonly string[]; workspace_id?: string },
  ): TokenAnswer & { client_id: string };
}

type Handler = (request: McpRequest) => Answer;

export class McpService implements Mcp {
  readonly people: readonly Person[];
  readonly workspaces: Workspaces;
  readonly toolbox: Toolbox;
  readonly #surroundings: McpSurroundings;
  readonly #options: McpOptions;
  readonly #grants: Grants;
  readonly #sessions = new McpSessions();
  readonly #toolCalls: ToolCalls;
  readonly #admission: AdmissionContext;
  readonly #transport: TransportContext;
  /** By method and path. */
  readonly #handlers: ReadonlyMap<string, Handler>;
  #requests = 0;

  constructor(surroundings: McpSurroundings, options: McpOptions) {
    const { store, keys, basePath, baseUrl } = surroundings;
    const { rateLimit = {}, enabled = false } = options;
    this.#surroundings = surroundings;
    this.#options = options;
    this.people = options.people ?? defaultPeople;
    this.workspaces = new Workspaces(store);
    this.#grants = new Grants(store, baseUrl, options.refreshReuse ?? 'revokes the grant');
    this.toolbox = new Toolbox({
      rename: options.renameTools ?? {},
      pageSize: options.toolsPerPage ?? 5,
      listsPermittedOnly: options.listsPermittedOnly ?? false,
      tellsScopes: options.tellsToolScopes ?? false,
    });
    this.#toolCalls = new ToolCalls(store, this.workspaces, this.toolbox);
    this.#admission = {
      limiter: new RateLimiter(rateLimit.window ?? 'sliding', rateLimit.perMinute ?? 120, rateLimit.perDay ?? 5000),
      tellsRetryAfter: rateLimit.tellsRetryAfter ?? false,
      grants: this.#grants,
      workspaces: this.workspaces,
      keys,
      resource: () => this.url,
    };
    this.#transport = {
      sessions: this.#sessions,
      answers: options.answers ?? 'json',
      tellsSessionId: options.tellsSessionId ?? true,
      counterOffers: options.counterOffers ?? false,
      run: (...call) => this.#toolCalls.run(...call),
    };
    const codes = new Codes();
    const authorize = new Authorize({
      store,
      codes,
      grants: this.#grants,
      workspaces: this.workspaces,
      people: this.people,
      issuer: baseUrl,
      action: `${basePath}${paths.authorize}`,
    });
    this.#handlers = new Map<string, Handler>([
      [`GET ${paths.protectedResource}`, () => jsonAnswer(200, protectedResource(baseUrl()))],
      [`GET ${paths.authorizationServer}`, () => jsonAnswer(200, authorizationServer(baseUrl()))],
      [`POST ${paths.register}`, (request) => register(store, request)],
      [`GET ${paths.authorize}`, (request) => authorize.begin(request)],
      [`POST ${paths.authorize}`, (request) => authorize.proceed(request)],
      [`POST ${paths.token}`, (request) => exchange({ store, codes, grants: this.#grants }, request)],
    ]);
    if (enabled !== false) this.enable(undefined, enabled === true ? undefined : enabled);
  }

  get url(): string {
    return `${this.#surroundings.baseUrl()}${paths.mcp}`;
  }

  get calls(): readonly ToolCall[] {
    return this.#toolCalls.all;
  }

  get requests(): number {
    return this.#requests;
  }

  /** The path of an endpoint behind the base path, or undefined for a path that belongs to none. */
  endpointOf(path: string): string | undefined {
    const { basePath } = this.#surroundings;
    // RFC 8414 and RFC 9728 put the base path behind the well-known one; the document puts it in front.
    const wellKnown = [paths.protectedResource, paths.authorizationServer].find((known) => path === known + basePath);
    const endpoint = wellKnown ?? (path.startsWith(basePath) ? path.slice(basePath.length) : '');
    if (endpoint === paths.legacy && !this.#options.legacy) return undefined;
    return Object.values<string>(paths).find((known) => known === endpoint);
  }

  /** Resolves to null when the connection is to be cut. */
  async answer(arrived: Omit<McpRequest, 'nowMs'>): Promise<Answer | null> {
    const { store, faults: active, clock, sleep } = this.#surroundings;
    this.#requests += 1;
    const faults = active.take(arrived.endpoint, callsIn(arrived));
    for (const fault of faults.filter(isHappening)) this.#happen(fault);
    await delay(sleep, faults, 'on arrival');
    const request = { ...arrived, nowMs: clock() + skewMsOf(faults) };
    const answer = await this.#answerDisturbed(request, faults);
    store.commit();
    await delay(sleep, faults, 'after work');
    const date = new Date(clock() + skewMsOf(faults)).toUTCString();
    return answer && { ...answer, headers: { ...answer.headers, date } };
  }

  enable(workspace_id?: string, scopes?: readonly string[]): void {
    this.workspaces.enable(workspace_id, scopes);
  }

  disable(workspace_id?: string): void {
    this.workspaces.disable(workspace_id);
  }

  revokeGrants(user_id?: string): void {
    this.#end('revoked', user_id);
  }

  withdrawConsent(user_id?: string): void {
    this.#end('consent withdrawn', user_id);
  }

  purgeClients(): void {
    const { store } = this.#surroundings;
    for (const { client_id } of [...store.data.oauthClients]) store.remove('oauthClients', client_id);
    store.commit();
  }

  endSessions(): void {
    this.#sessions.endAll();
  }

  grant(
    email: string,
    { scopes, workspace_id }: { scopes?: readonly string[]; workspace_id?: string } = {},
  ): TokenAnswer & { client_id: string } {
    const { store, clock } = this.#surroundings;
    const person = this.people.find((candidate) => candidate.email === email);
    if (person === undefined) throw new Error(`there is no person ${email}`);
    const offered = this.workspaces.offeredTo(person.user_id);
    const workspace = offered.find((candidate) => (workspace_id ?? candidate.workspace_id) === candidate.workspace_id);
    if (workspace === undefined) throw new Error(`MCP is not enabled in a workspace of ${email}`);
    const client_id = `granted-to-${person.user_id}`;
    const redirect_uris = ['http://127.0.0.1/'];
    store.put('oauthClients', { client_id, client_name: 'Granted', redirect_uris, client_id_issued_at: 0 });
    const grant = this.#grants.approve({
      client_id,
      user_id: person.user_id,
      workspace_id: workspace.workspace_id,
      scopes: scopes ? clamp(scopes.join(' '), workspace.mcp_scopes) : workspace.mcp_scopes,
      resource: this.url,
    });
    const tokens = this.#grants.issue(grant, clock());
    store.commit();
    return { ...tokens, client_id };
  }

  async #answerDisturbed(request: McpRequest, faults: readonly Fault[]): Promise<Answer | null> {
    const { sleep } = this.#surroundings;
    const ready = jsonAnswer(200, {});
    const disturb = (when: 'on arrival' | 'before work' | 'after work', answer: Answer) =>
      disturbance(faults, when, answer, this.#errorAnswer(request));
    const stopped = disturb('on arrival', ready);
    if (stopped !== ready) return stopped;
    // The document's lifetimes are an hour and 30 days: after 31 days, any token has expired.
    const isExpired = faults.some(({ kind }) => kind === 'token-expired');
    const judged = isExpired ? { ...request, nowMs: request.nowMs + 31 * 86_400_000 } : request;
    const admitted = this.#attempt(request, () => this.#admit(judged));
    if (admitted instanceof Refused) return admitted.answer;
    await delay(sleep, faults, 'before work');
    const prevented = disturb('before work', ready);
    if (prevented !== ready) return prevented;
    const answer = this.#attempt(request, () => this.#work(judged, admitted.value));
    if (answer instanceof Refused) return answer.answer;
    return disturb('after work', withFields(answer.value, faults));
  }

  /** The checks in front of the MCP endpoints; OAuth endpoints have none of their own. */
  #admit(request: McpRequest): Caller | undefined {
    if (request.endpoint === paths.mcp) {
      countCall(this.#admission, request, this.#surroundings.clock());
      return admitBearer(this.#admission, request);
    }
    if (request.endpoint === paths.legacy) {
      countCall(this.#admission, request, this.#surroundings.clock());
      return admitKey(this.#admission, request);
    }
    return undefined;
  }

  #work(request: McpRequest, caller: Caller | undefined): Answer {
    if (caller) return answerTransport(this.#transport, caller, request);
    const handler = this.#handlers.get(`${request.method} ${request.endpoint}`);
    if (!handler) throw new OAuthRefusal(405, 'invalid_request', 'Method not allowed');
    return handler(request);
  }

  #attempt<T>(request: McpRequest, act: () => T): { value: T } | Refused {
    try {
      return { value: act() };
    } catch (error) {
      if (error instanceof OAuthRefusal) return new Refused(oauthRefusalAnswer(error));
      if (error instanceof McpRefusal) return new Refused(mcpRefusalAnswer(error, this.#metadataUrl(request)));
      throw error;
    }
  }

  /** How a fault's error looks at this endpoint. */
  #errorAnswer(request: McpRequest): ErrorAnswer {
    return (status, message, reason) => {
      if (request.endpoint !== paths.mcp && request.endpoint !== paths.legacy) {
        return oauthAnswer(status, { error: 'temporarily_unavailable', error_description: message }, reason);
      }
      const refusal = new McpRefusal(status, message, status === 429 ? { code: rpcCodes.rateLimited } : {});
      return mcpRefusalAnswer(refusal, this.#metadataUrl(request));
    };
  }

  #metadataUrl({ endpoint }: McpRequest): string | null {
    const tells = this.#options.tellsResourceMetadata ?? true;
    return tells && endpoint === paths.mcp ? `${this.#surroundings.baseUrl()}${paths.protectedResource}` : null;
  }

  #happen({ kind }: Happening): void {
    switch (kind) {
      case 'clients-purged':
        this.purgeClients();
        break;
      case 'grants-revoked':
        this.revokeGrants();
        break;
      case 'consent-withdrawn':
        this.withdrawConsent();
        break;
      case 'mcp-disabled':
        for (const { workspace_id } of [...this.workspaces.all]) this.disable(workspace_id);
        break;
      case 'sessions-ended':
        this.endSessions();
        break;
    }
  }

  #end(state: 'revoked' | 'consent withdrawn', user_id: string | undefined): void {
    for (const grant of [...this.#grants.all]) {
      if ((user_id ?? grant.user_id) === grant.user_id) this.#grants.end(grant, state);
    }
  }
}

class Refused {
  readonly answer: Answer;

  constructor(answer: Answer) {
    this.answer = answer;
  }
}

/** A discovery document as the faults have it. */
function withFields(answer: Answer, faults: readonly Fault[]): Answer {
  const fields = faults.flatMap((fault) => (fault.kind === 'discovery' ? [fault.fields] : []));
  if (fields.length === 0 || typeof answer.body !== 'string') return answer;
  const changed = Object.entries({ ...JSON.parse(answer.body), ...Object.assign({}, ...fields) });
  return { ...answer, body: JSON.stringify(Object.fromEntries(changed.filter(([, value]) => value !== null))) };
}
