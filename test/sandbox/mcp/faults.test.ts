import { describe, expect, it } from 'vitest';
import type { Fault } from '../../../sandbox/faults.ts';
import { call as callPartner } from '../signed-request.ts';
import { authorization, link, McpClient, mira, refresh, register, startMcp } from './mcp-client.ts';

const checkout = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01';

describe('a fault at the MCP endpoint', () => {
  it.each<[Fault, number, number, number | undefined]>([
    [{ kind: 'server-error', call: 'log_time' }, 500, 0, -32001],
    [{ kind: 'server-error', call: 'tools/call', when: 'after work' }, 500, 1, -32001],
    [{ kind: 'rate-limited', call: 'log_time', retryAfterSeconds: 3 }, 429, 0, -32500],
    [{ kind: 'token-expired', call: 'log_time' }, 401, 0, -32001],
    [{ kind: 'grants-revoked', call: 'log_time' }, 401, 0, -32001],
    [{ kind: 'consent-withdrawn', call: 'log_time' }, 401, 0, -32001],
    [{ kind: 'mcp-disabled', call: 'log_time' }, 403, 0, -32001],
    [{ kind: 'sessions-ended', call: 'log_time' }, 404, 0, -32001],
    [{ kind: 'latency', ms: 1, call: 'log_time' }, 200, 1, undefined],
    [{ kind: 'server-error', call: 'who_am_i' }, 200, 1, undefined],
    [{ kind: 'server-error', operation: '/mcp/partner-legacy' }, 200, 1, undefined],
  ])('%o is answered with %i', async (fault, status, logged, code) => {
    const { sandbox } = await startMcp();
    const client = await McpClient.connect(sandbox, sandbox.mcp.grant(mira).access_token);
    const before = sandbox.data.timelogs.length;
    sandbox.setFault(fault);
    const answer = await client.call('log_time', { task: checkout, hours: 1 });
    expect(answer.status).toBe(status);
    expect(sandbox.data.timelogs).toHaveLength(before + logged);
    if (code !== undefined) expect(answer.json.error.code).toBe(code);
    expect(answer.headers.has('www-authenticate')).toBe(status >= 400);
  });

  it('is not used up by the partner API, nor the other way round', async () => {
    const { sandbox } = await startMcp();
    const client = await McpClient.connect(sandbox, sandbox.mcp.grant(mira).access_token);
    sandbox.setFault({ kind: 'grants-revoked', times: 1 });
    sandbox.setFault({ kind: 'key-revoked', times: 1 });
    expect((await callPartner(sandbox, '/validate', {})).status).toBe(401);
    expect((await client.call('who_am_i')).status).toBe(401);
  });

  it.each([
    ['before work', 0],
    ['after work', 1],
  ] as const)('cuts the connection %s', async (when, logged) => {
    const { sandbox } = await startMcp();
    const client = await McpClient.connect(sandbox, sandbox.mcp.grant(mira).access_token);
    const before = sandbox.data.timelogs.length;
    sandbox.setFault({ kind: 'cut', when, call: 'log_time', times: 1 });
    await expect(client.call('log_time', { task: checkout, hours: 1 })).rejects.toThrow('fetch failed');
    expect(sandbox.data.timelogs).toHaveLength(before + logged);
    expect(sandbox.mcp.audit.at(-1)).toMatchObject({ calls: ['tools/call', 'log_time'], status: null });
    expect((await client.call('who_am_i')).status).toBe(200);
  });

  it.each(['json', 'stream'] as const)('cuts an answer in the middle of %s', async (answers) => {
    const { sandbox } = await startMcp({ answers });
    const client = await McpClient.connect(sandbox, sandbox.mcp.grant(mira).access_token);
    sandbox.setFault({ kind: 'stream-cut', times: 1 });
    await expect(client.call('log_time', { task: checkout, hours: 1 })).rejects.toThrow('terminated');
    expect(sandbox.data.timelogs.at(-1)).toMatchObject({ hours: 1, task_id: checkout });
  });

  it('cuts a stream after an event, from which it can be resumed', async () => {
    const { sandbox } = await startMcp({ answers: 'stream' });
    const client = await McpClient.connect(sandbox, sandbox.mcp.grant(mira).access_token);
    sandbox.setFault({ kind: 'stream-cut', pieces: 1, times: 1 });
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'who_am_i' } };
    const response = await client.open(body);
    let seen = '';
    const read = async () => {
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) seen += chunk;
    };
    await expect(read()).rejects.toThrow('terminated');
    const [id = ''] = /(?<=^id: )\S+(?=\ndata: \n\n)/.exec(seen) ?? [];
    const resumed = await (await client.raw('GET', { 'last-event-id': id })).text();
    expect(resumed).toContain('"isError":false');
  });

  it('sends an answer slowly, and whole', async () => {
    const { sandbox } = await startMcp({ answers: 'stream' });
    const client = await McpClient.connect(sandbox, sandbox.mcp.grant(mira).access_token);
    sandbox.setFault({ kind: 'stream-slow', ms: 1 });
    expect((await client.call('who_am_i')).json.result.isError).toBe(false);
  });
});

describe('a fault of the OAuth endpoints', () => {
  it('loses the answer to a refresh, after which the grant is gone', async () => {
    const { sandbox } = await startMcp();
    const { tokens, client_id } = await link(sandbox);
    sandbox.setFault({ kind: 'cut', when: 'after work', operation: '/oauth/token', call: 'refresh_token', times: 1 });
    await expect(refresh(sandbox, client_id, tokens.refresh_token)).rejects.toThrow('fetch failed');
    expect((await refresh(sandbox, client_id, tokens.refresh_token)).json.error).toBe('invalid_grant');
  });

  it('cuts a refresh before the work, after which it can be repeated', async () => {
    const { sandbox } = await startMcp();
    const { tokens, client_id } = await link(sandbox);
    sandbox.setFault({ kind: 'cut', operation: '/oauth/token', times: 1 });
    await expect(refresh(sandbox, client_id, tokens.refresh_token)).rejects.toThrow('fetch failed');
    expect((await refresh(sandbox, client_id, tokens.refresh_token)).status).toBe(200);
  });

  it.each<[Fault, string]>([
    [{ kind: 'clients-purged' }, 'invalid_client'],
    [{ kind: 'grants-revoked' }, 'invalid_grant'],
    [{ kind: 'consent-withdrawn' }, 'invalid_grant'],
    [{ kind: 'token-expired' }, 'invalid_grant'],
    [{ kind: 'server-error' }, 'temporarily_unavailable'],
    [{ kind: 'rate-limited' }, 'temporarily_unavailable'],
  ])('%o refuses a refresh with %s', async (fault, error) => {
    const { sandbox } = await startMcp();
    const { tokens, client_id } = await link(sandbox);
    sandbox.setFault({ ...fault, operation: '/oauth/token' });
    expect((await refresh(sandbox, client_id, tokens.refresh_token)).json.error).toBe(error);
  });

  it.each(['/.well-known/oauth-protected-resource', '/.well-known/oauth-authorization-server', '/oauth/authorize'])(
    'answers 500 at %s',
    async (operation) => {
      const { sandbox } = await startMcp();
      sandbox.setFault({ kind: 'server-error', operation, times: 1 });
      expect((await fetch(`${sandbox.url}${operation}`)).status).toBe(500);
      expect((await fetch(`${sandbox.url}${operation}`)).status).not.toBe(500);
    },
  );

  it('answers 500 to a registration', async () => {
    const { sandbox } = await startMcp();
    sandbox.setFault({ kind: 'server-error', operation: '/oauth/register', times: 1 });
    expect((await register(sandbox)).status).toBe(500);
    expect((await register(sandbox)).status).toBe(201);
  });

  it('purges the client between registration and sign-in', async () => {
    const { sandbox } = await startMcp();
    const { url } = await authorization(sandbox);
    sandbox.setFault({ kind: 'clients-purged', operation: '/oauth/authorize', times: 1 });
    expect(await (await fetch(url)).text()).toContain('has to register again');
  });

  it('makes discovery lie, and the token endpoint answer HTML with 200', async () => {
    const { sandbox } = await startMcp();
    const fields = { issuer: 'https://elsewhere.example', code_challenge_methods_supported: null };
    const operation = '/.well-known/oauth-authorization-server';
    sandbox.setFault({ kind: 'discovery', operation, fields });
    const document = await (await fetch(`${sandbox.url}${operation}`)).json();
    expect(document).toMatchObject({
      issuer: 'https://elsewhere.example',
      token_endpoint: `${sandbox.url}/oauth/token`,
    });
    expect(document).not.toHaveProperty('code_challenge_methods_supported');
    sandbox.setFault({ kind: 'maintenance', status: 200, operation: '/oauth/token' });
    const answer = await fetch(`${sandbox.url}/oauth/token`, { method: 'POST' });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  });
});

describe('POST /sandbox/mcp', () => {
  async function startControlled() {
    const { sandbox } = await startMcp({ enabled: false });
    const administer = async (body: object) => {
      const headers = { authorization: `Bearer ${sandbox.controlKey}` };
      const init = { method: 'POST', headers, body: JSON.stringify(body) };
      const response = await fetch(`${sandbox.url}/sandbox/mcp`, init);
      return { status: response.status, json: await response.json() };
    };
    return { sandbox, administer };
  }

  it('does what an administrator does', async () => {
    const { sandbox, administer } = await startControlled();
    const { json } = await administer({ do: 'enable', scopes: ['mcp:use'] });
    expect(json).toMatchObject([{ mcp_enabled: true, mcp_scopes: ['mcp:use'] }, { mcp_enabled: false }]);
    const { tokens, client_id } = await link(sandbox);
    await administer({ do: 'withdraw consent', user_id: 'another person' });
    const again = await refresh(sandbox, client_id, tokens.refresh_token);
    expect(again.status).toBe(200);
    await administer({ do: 'revoke grants' });
    expect((await refresh(sandbox, client_id, again.json.refresh_token)).json.error).toBe('invalid_grant');
    await administer({ do: 'purge clients' });
    expect(sandbox.data.oauthClients).toEqual([]);
    await administer({ do: 'disable' });
    expect(() => sandbox.mcp.grant(mira)).toThrow('MCP is not enabled');
    const shown = await (await fetch(`${sandbox.url}/sandbox/mcp`)).json();
    expect(shown).toEqual({ calls: [], audit: sandbox.mcp.audit });
  });

  it.each([
    [{}, 'do must be one of enable, disable, revoke grants, withdraw consent, purge clients, end sessions'],
    [{ do: 'toString' }, 'do must be one of'],
    [{ do: 'enable', user_id: 'x' }, 'user_id is unknown with do enable'],
    [{ do: 'enable', scopes: 'mcp:use' }, 'scopes must be a list of scopes'],
    [{ do: 'enable', scopes: ['mcp:users.write'] }, 'there is no scope mcp:users.write to allow'],
    [{ do: 'enable', workspace_id: 'x' }, 'there is no workspace x'],
    [{ do: 'disable', workspace_id: 7 }, 'workspace_id must be a string'],
  ])('refuses %o', async (body, error) => {
    const { administer } = await startControlled();
    expect(await administer(body)).toMatchObject({ status: 400, json: { error: expect.stringContaining(error) } });
  });
});
