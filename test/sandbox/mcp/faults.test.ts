import { describe, expect, it } from 'vitest';
import type { Fault } from '../../../sandbox/faults.ts';
import { call as callPartner } from '../signed-request.ts';
import { link, McpClient, mira, refresh, register, startMcp } from './mcp-client.ts';

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
    [{ kind: 'server-error', call: 'list_projects' }, 200, 1, undefined],
    [{ kind: 'server-error', operation: '/oauth/token' }, 200, 1, undefined],
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
    expect((await client.call('list_projects')).status).toBe(401);
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
    expect((await client.call('list_projects')).status).toBe(200);
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
