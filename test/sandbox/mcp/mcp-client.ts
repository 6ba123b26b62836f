import { createHash, randomBytes } from 'node:crypto';
import type { McpOptions } from '../../../sandbox/mcp/options.ts';
import { startAtNoon } from '../signed-request.ts';
import { type Choices, consent, type Linkable } from './consent.ts';

export const mira = 'mira.novak@example.com';
export const redirectUri = 'http://127.0.0.1:9/callback';

/** A sandbox at noon. MCP is enabled by default. */
export function startMcp(mcp: McpOptions = {}) {
  return startAtNoon({ mcp: { enabled: true, ...mcp } });
}

/** The authorization request of a correct client, with changed parameters; null leaves one out. */
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

/** Goes through the whole flow. @returns the tokens, and the parameters of their exchange */
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
  /** The fields of a message that the tests read. An answer has `result` or `error`. */
  json: {
    id: string | number | null;
    result: { tools: { name: string; _meta?: { scope: string } }[] };
    error: { code: number; message: string };
  };
}

/** Posts a body to the endpoint. */
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

  /** @param bearer an access token, or headers to send instead */
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

  /** Sends a request with the id 1. @returns the answer */
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
