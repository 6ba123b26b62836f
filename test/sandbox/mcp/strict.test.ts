import { describe, expect, it } from 'vitest';
import { grantable } from '../../../sandbox/mcp/scopes.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import { consent } from './consent.ts';
import {
  authorization,
  initialize,
  link,
  McpClient,
  mira,
  post,
  redirectUri,
  startMcp,
  tokenRequest,
} from './mcp-client.ts';

// No test of the relay can notice a mistake that the sandbox allows. Its behavior for correct clients is tested in
// conformance.test.ts, and by the relay's tests: the relay's own client passes the official suite and works with an
// independent authorization server (test/as-person/).

const shop = '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01';
const revisions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const connect = (sandbox: Sandbox, granted: { scopes?: string[] } = {}) =>
  McpClient.connect(sandbox, sandbox.mcp.grant(mira, granted).access_token);

describe('the pages of an authorization', () => {
  it.each([
    [{ code_challenge: null }, 'invalid_request'],
    [{ code_challenge_method: null }, 'invalid_request'],
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ resource: 'https://elsewhere.example/mcp' }, 'invalid_target'],
  ])('are not shown for %o: %s', async (parameters, error) => {
    const { sandbox } = await startMcp();
    const { url } = await authorization(sandbox, parameters);
    const back = await consent(sandbox, url);
    expect(`${back.origin}${back.pathname}`).toBe(redirectUri);
    expect(back.searchParams.get('error')).toBe(error);
  });

  it('offer the requested scopes that the workspace allows, and no reserved ones', async () => {
    const { sandbox } = await startMcp();
    sandbox.mcp.enable(undefined, ['mcp:use', 'mcp:tasks.read', 'mcp:tasks.write']);
    const scope = 'mcp:use mcp:tasks.write mcp:timelogs.write mcp:users.write no:such';
    expect((await link(sandbox, {}, { scope })).tokens.scope).toBe('mcp:use mcp:tasks.write');
  });
});

describe('the token endpoint', () => {
  it.each([
    [{ code_verifier: 'x'.repeat(43) }, 'invalid_grant'],
    [{ code: 'guess' }, 'invalid_grant'],
    [{ redirect_uri: 'http://127.0.0.1:9/elsewhere' }, 'invalid_grant'],
    [{ resource: 'https://elsewhere.example/' }, 'invalid_target'],
    [{ client_id: 'unknown' }, 'invalid_client'],
    [{ grant_type: 'password' }, 'unsupported_grant_type'],
    [{ code_verifier: '' }, 'invalid_request'],
  ])('refuses an exchange with %o: %s', async (wrong, error) => {
    const { sandbox } = await startMcp();
    const { url, verifier, client_id } = await authorization(sandbox);
    const code = (await consent(sandbox, url)).searchParams.get('code') ?? '';
    const exchange = { grant_type: 'authorization_code', client_id, code, code_verifier: verifier };
    expect((await tokenRequest(sandbox, { ...exchange, ...wrong })).json.error).toBe(error);
    expect((await tokenRequest(sandbox, exchange)).status).toBe(200);
  });

  it('accepts a code once, and revokes the grant when the code is used again', async () => {
    const { sandbox } = await startMcp();
    const { exchange, tokens } = await link(sandbox);
    expect((await tokenRequest(sandbox, exchange)).json.error).toBe('invalid_grant');
    await expect(McpClient.connect(sandbox, tokens.access_token)).rejects.toThrow('revoked');
  });
});

describe('the MCP endpoint', () => {
  const scopes = [...grantable.keys()];
  const ofTools = scopes.filter((scope) => scope !== 'mcp:use');
  it.each(ofTools)('has tools for the scope %s, and refuses them without it', async (scope) => {
    const { sandbox } = await startMcp({ toolsPerPage: 100, tellsToolScopes: true });
    const others = await connect(sandbox, { scopes: scopes.filter((one) => one !== scope) });
    const only = await connect(sandbox, { scopes: ['mcp:use', scope] });
    const { tools } = (await only.request('tools/list')).json.result;
    const its = tools.filter(({ _meta }) => _meta?.scope === scope);
    expect(its).not.toEqual([]);
    for (const { name } of its) {
      const answer = await others.call(name);
      expect([answer.status, answer.json.error.message]).toEqual([403, `The tool ${name} needs the scope ${scope}`]);
      expect((await only.call(name)).status).toBe(200);
    }
  });

  it('refuses a body that is too large with a challenge and a JSON-RPC error', async () => {
    const { sandbox } = await startMcp();
    const headers = { ...bearer(sandbox.mcp.grant(mira).access_token), 'content-type': 'application/json' };
    const answer = await fetch(sandbox.mcp.url, { method: 'POST', headers, body: Buffer.alloc(11 * 1024 * 1024) });
    expect(answer.status).toBe(413);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer /);
    expect(await answer.json()).toMatchObject({ jsonrpc: '2.0', error: { message: 'Payload too large' } });
  });

  it.each([
    ['create_project', { name: 'Warehouse' }, { project: { name: 'Warehouse' } }],
    ['create_task', { project: shop, title: 'Try tools' }, { task: { title: 'Try tools', project_id: shop } }],
    ['list_people', {}, { people: [{ name: 'Mira Novak' }, { name: 'Tomasz Zielinski' }] }],
    ['list_sprints', { project: shop }, { sprints: [] }],
    ['save_context', { project: shop, context: 'x' }, { project: shop, context: 'x' }],
  ])('has a usable tool %s', async (name, args, expected) => {
    const { sandbox } = await startMcp();
    const client = await connect(sandbox);
    const { json } = await client.call(name, args);
    expect(json.result).toMatchObject({ isError: false, structuredContent: expected });
  });

  it('has no tool that changes members', async () => {
    const { sandbox } = await startMcp({ toolsPerPage: 100 });
    const client = await connect(sandbox);
    const { tools } = (await client.request('tools/list')).json.result;
    expect(tools.filter(({ name }) => /member|user|role/.test(name))).toEqual([]);
  });

  it.each(['2026-07-28', '2024-10-07', ''])('does not speak the revision %o', async (revision) => {
    const { sandbox } = await startMcp();
    const headers = bearer(sandbox.mcp.grant(mira).access_token);
    const { status, json } = await post(sandbox.mcp.url, initialize(revision), headers);
    expect([status, json.id, json.error.code]).toEqual([400, 'hello', -32602]);
    for (const supported of revisions) expect(json.error.message).toContain(supported);
  });

  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  it.each([
    ['no JSON', '{', {}, 400, -32700],
    ['no JSON-RPC', { id: 1, method: 'ping' }, {}, 400, -32600],
    ['a batch', [list], {}, 400, -32600],
    ['another revision in the header', list, { 'mcp-protocol-version': '2026-07-28' }, 400, -32000],
    ['an Accept without streams', list, { accept: 'application/json' }, 406, -32000],
    ['another content type', list, { 'content-type': 'text/plain' }, 415, -32000],
    ['an unknown method', { ...list, method: 'resources/list' }, {}, 200, -32601],
  ])('refuses a message with %s', async (_, body, headers, status, code) => {
    const { sandbox } = await startMcp();
    const client = await connect(sandbox);
    const answer = await client.send(body, headers);
    expect([answer.status, answer.json.error.code]).toEqual([status, code]);
  });
});
