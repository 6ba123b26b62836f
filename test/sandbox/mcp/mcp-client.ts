import { createHash, randomBytes } from 'node:crypto';
import type { McpOptions } from '../../../sandbox/mcp/options.ts';
import { startAtNoon } from '../signed-request.ts';
import { type Choices, consent, type Linkable } from './consent.ts';

export const mira = 'mira.novak@example.com';
export const redirectUri = 'http://127.0.0.1:9/callback';

/** A sandbox at noon, with MCP enabled unless the options say otherwise. */
export function startMcp(mcp: McpOptions = {}) {
  return startAtNoon({ mcp: { enabled: true, ...mcp } });
}

/** An authorization of a client that does everything right, unless the parameters say otherwise; null leaves one out. */
export async function authorization(sandbox: Linkable, parameters: Record<string, string | null> = {}) {
  const body = JSON.stringify({ redirect_uris: [redirectUri] });
  const registered = await fetch(`${sandbox.url}/oauth/register`, { method: 'POST', body });
  const verifier = randomBytes(32).toString('base64url');
  const url = new URL(`${sandbox.url}/oauth/authorize`);
  const asked = {
    response_type: 'code',
    client_id: ((await registered.json()) as { client_id: string }).client_id,
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
  const json = (await response.json()) as { access_token: string; scope: string; error?: string };
  return { status: response.status, json };
}

/** The whole flow: the tokens, and what they were exchanged for. */
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
  return { tokens: (await tokenRequest(sandbox, exchange)).json, exchange };
}

export interface RpcAnswer {
  status: number;
  headers: Headers;
  text: string;
  /** What the tests look at of a message; an answer has `result` or `error`. */
  json: {
    id: string | number | null;
    result: { tools: { name: string; _meta?: { scope: string } }[] };
    error: { code: number; message: string };
  };
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

  /** What it answers to a request with the id 1. */
  request(method: string, params: object = {}): Promise<RpcAnswer> {
    return this.send({ jsonrpc: '2.0', id: 1, method, params });
  }

  send(body: object | string, headers: Record<string, string> = {}): Promise<RpcAnswer> {
    return post(this.#url, body, { ...this.#headers, ...headers });
  }

  call(name: string, args: object = {}): Promise<RpcAnswer> {
    return this.request('tools/call', { name, arguments: args });
  }
}

export function initialize(protocolVersion: string) {
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  return { jsonrpc: '2.0', id: 'hello', method: 'initialize', params };
}
