import { describe, expect, it } from 'vitest';
import type { Fault } from '../../../sandbox/faults.ts';
import { McpClient, mira, startMcp } from './mcp-client.ts';

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
