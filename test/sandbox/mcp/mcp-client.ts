import { createHash, randomBytes } from 'node:crypto';
import type { McpOptions } from '../../../sandbox/mcp/options.ts';
import { startAtNoon } from '../signed-request.ts';
import { type Choices, consent, type Linkable } from './consent.ts';

export const mira = 'mira.novak@example.com';
export const tomasz = 'tomasz.zielinski@example.com';
export const redirectUri = 'http://127.0.0.1:9/callback';

/** A sandbox at noon, with MCP enabled unless the options say otherwise. */
export function startMcp(mcp: McpOptions = {}) {
  return startAtNoon({ mcp: { enabled: true, ...mcp } });
}

export interface Tokens {
  access_token: string;
  refresh_token: string;
  scope: string;
  expires_in: number;
  error?: string;
  error_description?: string;
}

export async function register(sandbox: Linkable, metadata: object = { redirect_uris: [redirectUri] }) {
  const response = await fetch(`${sandbox.url}/oauth/register`, { method: 'POST', body: JSON.stringify(metadata) });
  return { status: response.status, json: (await response.json()) as { client_id: string; error?: string } };
}

/** An authorization of a client that does everything right, unless the parameters say otherwise; null leaves one out. */
export async function authorization(sandbox: Linkable, parameters: Record<string, string | null> = {}) {
  const { json } = await register(sandbox);
  const verifier = randomBytes(32).toString('base64url');
  const url = new URL(`${sandbox.url}/oauth/authorize`);
  const asked = {
    response_type: 'code',
    client_id: json.client_id,
    redirect_uri: redirectUri,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state: 'some state',
    resource: sandbox.mcp.url,
    ...parameters,
  };
  for (const [name, value] of Object.entries(asked)) if (value !== null) url.searchParams.set(name, value);
  return { url, verifier, client_id: asked.client_id ?? '' };
}

/** The answer of the token endpoint. */
export async function tokenRequest(sandbox: Linkable, form: Record<string, string>) {
  const response = await fetch(`${sandbox.url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
  return { status: response.status, json: (await response.json()) as Tokens };
}

/** The whole flow: the tokens, and what is needed to refresh them. */
export async function link(sandbox: Linkable, choices: Choices = {}, parameters: Record<string, string | null> = {}) {
  const { url, verifier, client_id } = await authorization(sandbox, parameters);
  const back = await consent(sandbox, url, choices);
  const exchange = {
    grant_type: 'authorization_code',
    client_id,
    code: back.searchParams.get('code') ?? '',
    code_verifier: verifier,
    redirect_uri: redirectUri,
  };
  const { status, json } = await tokenRequest(sandbox, exchange);
  return { status, tokens: json, client_id, exchange, back };
}

export interface RpcAnswer {
  status: number;
  headers: Headers;
  text: string;
  json: RpcMessage;
}

/** What the tests look at of a message; an answer has `result` or `error`. */
interface RpcMessage {
  id: string | number | null;
  result: {
    protocolVersion: string;
    tools: { name: string; title?: string; annotations?: object; inputSchema: object; _meta?: object }[];
    nextCursor?: string;
    content: { text: string }[];
    structuredContent?: Record<string, unknown>;
    isError: boolean;
  };
  error: { code: number; message: string };
}

/** Sends one body to the endpoint. */
export async function post(url: string, body: object | string, headers: Record<string, string>): Promise<RpcAnswer> {
  const types = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(url, { method: 'POST', headers: { ...types, ...headers }, body: text });
  const answered = await response.text();
  return { status: response.status, headers: response.headers, text: answered, json: JSON.parse(answered || '{}') };
}

/** A client after its handshake. */
export class McpClient {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  #id = 0;

  private constructor(url: string, headers: Record<string, string>) {
    this.#url = url;
    this.#headers = headers;
  }

  /** `bearer` is an access token, or the headers to send in its place. */
  static async connect(sandbox: Pick<Linkable, 'url'>, bearer: string | Record<string, string>): Promise<McpClient> {
    const url = `${sandbox.url}/mcp/partner`;
    const headers = typeof bearer === 'string' ? { authorization: `Bearer ${bearer}` } : bearer;
    const revision = '2025-11-25';
    const answer = await post(url, initialize(revision), headers);
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
    const session = answer.headers.get('mcp-session-id');
    return new McpClient(url, {
      ...headers,
      ...(session === null ? {} : { 'mcp-session-id': session }),
      'mcp-protocol-version': revision,
    });
  }

  request(method: string, params: object = {}): Promise<RpcAnswer> {
    this.#id += 1;
    return post(this.#url, { jsonrpc: '2.0', id: this.#id, method, params }, this.#headers);
  }

  send(body: object | string, headers: Record<string, string> = {}): Promise<RpcAnswer> {
    return post(this.#url, body, { ...this.#headers, ...headers });
  }

  call(name: string, args: object = {}): Promise<RpcAnswer> {
    return this.request('tools/call', { name, arguments: args });
  }

  /** The names on all pages. */
  async tools(): Promise<string[]> {
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const { json } = await this.request('tools/list', cursor === undefined ? {} : { cursor });
      names.push(...json.result.tools.map(({ name }) => name));
      cursor = json.result.nextCursor;
    } while (cursor !== undefined);
    return names;
  }
}

export function initialize(protocolVersion: string) {
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  return { jsonrpc: '2.0', id: 'hello', method: 'initialize', params };
}
