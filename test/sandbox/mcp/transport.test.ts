import { describe, expect, it } from 'vitest';
import { initialize, McpClient, mira, post, startMcp, tomasz } from './mcp-client.ts';

const revisions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

async function connected(options: Parameters<typeof startMcp>[0] = {}, revision = '2025-11-25') {
  const { sandbox, time } = await startMcp(options);
  const { access_token } = sandbox.mcp.grant(mira);
  const client = await McpClient.connect(sandbox, access_token, { revision });
  return { sandbox, time, client, access_token };
}

describe('the handshake', () => {
  it.each(revisions)('takes %s', async (revision) => {
    const { sandbox } = await startMcp();
    const headers = { authorization: `Bearer ${sandbox.mcp.grant(mira).access_token}` };
    const { json } = await post(sandbox.mcp.url, initialize(revision), headers);
    expect(json).toMatchObject({ id: 'hello', result: { protocolVersion: revision, capabilities: { tools: {} } } });
  });

  it.each(['2026-07-28', '2024-10-07', ''])('fails for %o right after OAuth has succeeded', async (revision) => {
    const { sandbox } = await startMcp();
    const headers = { authorization: `Bearer ${sandbox.mcp.grant(mira).access_token}` };
    const { status, json } = await post(sandbox.mcp.url, initialize(revision), headers);
    expect([status, json.id, json.error.code]).toEqual([400, 'hello', -32602]);
    for (const supported of revisions) expect(json.error.message).toContain(supported);
  });
});

describe('a session', () => {
  it('is needed after the handshake', async () => {
    const { sandbox, access_token } = await connected();
    const headers = { authorization: `Bearer ${access_token}` };
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    expect((await post(sandbox.mcp.url, ping, headers)).status).toBe(400);
    expect((await post(sandbox.mcp.url, ping, { ...headers, 'mcp-session-id': 'guess' })).status).toBe(404);
  });

  it('belongs to one person', async () => {
    const { sandbox, client } = await connected();
    const { access_token } = sandbox.mcp.grant(tomasz);
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    expect((await client.send(ping, { authorization: `Bearer ${access_token}` })).status).toBe(404);
    expect((await client.send(ping)).json.result).toEqual({});
  });

  it.each([
    ['the client ends it', async (client: McpClient) => expect((await client.raw('DELETE')).status).toBe(204)],
    ['the service does', async (_: McpClient, end: () => void) => end()],
  ])('is gone when %s', async (_, end) => {
    const { sandbox, client } = await connected();
    await end(client, () => sandbox.mcp.endSessions());
    expect((await client.request('ping')).status).toBe(404);
  });

  it('can be left out', async () => {
    const { client } = await connected({ tellsSessionId: false });
    expect((await client.request('ping')).json.result).toEqual({});
    expect((await client.call('list_projects')).json.result.isError).toBe(false);
  });
});

describe('a message', () => {
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

  it.each([
    ['no JSON', '{', {}, 400, -32700],
    ['no JSON-RPC', { id: 1, method: 'ping' }, {}, 400, -32600],
    ['no method', { jsonrpc: '2.0', id: 1 }, {}, 400, -32600],
    ['an id that is an object', { jsonrpc: '2.0', id: {}, method: 'ping' }, {}, 400, -32600],
    ['params that are a list', { jsonrpc: '2.0', id: 1, method: 'ping', params: [] }, {}, 400, -32600],
    ['a batch', [list], {}, 400, -32600],
    ['another revision in the header', list, { 'mcp-protocol-version': '2026-07-28' }, 400, -32000],
    ['an Accept without streams', list, { accept: 'application/json' }, 406, -32000],
    ['another content type', list, { 'content-type': 'text/plain' }, 415, -32000],
    ['an unknown method', { ...list, method: 'resources/list' }, {}, 200, -32601],
  ])('with %s is refused', async (_, body, headers, status, code) => {
    const { client } = await connected();
    const answer = await client.send(body, headers);
    expect([answer.status, answer.json.error.code]).toEqual([status, code]);
    expect(answer.headers.has('www-authenticate')).toBe(status !== 200);
  });

  it('that is a notification is answered with 202 and nothing', async () => {
    const { client } = await connected();
    const { status, text } = await client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    expect([status, text]).toEqual([202, '']);
  });

  it('comes by no other method', async () => {
    const { client } = await connected();
    for (const method of ['GET', 'PUT']) {
      const response = await client.raw(method);
      expect([response.status, response.headers.has('www-authenticate')]).toEqual([405, true]);
    }
  });
});
