import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { grantable } from '../../../sandbox/mcp/scopes.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import { initialize, link, McpClient, mira, post, startMcp } from './mcp-client.ts';

const hourMs = 3_600_000;

/** The challenge of an answer, by parameter. */
function challengeOf(headers: Headers): Record<string, string> {
  const text = headers.get('www-authenticate') ?? '';
  expect(text).toMatch(/^Bearer /);
  return Object.fromEntries([...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]));
}

interface Row {
  title: string;
  status: number;
  error: string | undefined;
  message: string;
  /** The token to call with, or the headers in its place. */
  token(sandbox: Sandbox, time: { now: number }): Promise<string | Record<string, string>>;
}

const granted = (sandbox: Sandbox) => sandbox.mcp.grant(mira).access_token;

const rows: readonly Row[] = [
  {
    title: 'no bearer token',
    status: 401,
    error: 'invalid_request',
    message: 'bearer token is required',
    token: async () => ({}),
  },
  {
    title: 'an API key in its place',
    status: 401,
    error: 'invalid_request',
    message: 'bearer token is required',
    token: async (sandbox) => ({ 'x-api-key': sandbox.keys[0]?.apiKey ?? '' }),
  },
  {
    title: 'an expired token',
    status: 401,
    error: 'invalid_token',
    message: 'expired',
    async token(sandbox, time) {
      const token = granted(sandbox);
      time.now += hourMs;
      return token;
    },
  },
  {
    title: 'a revoked token',
    status: 401,
    error: 'invalid_token',
    message: 'revoked',
    async token(sandbox) {
      const token = granted(sandbox);
      sandbox.mcp.revokeGrants();
      return token;
    },
  },
  {
    title: 'an invalid signature',
    status: 401,
    error: 'invalid_token',
    message: 'signature',
    token: async (sandbox) => `${granted(sandbox).slice(0, -4)}AAAA`,
  },
  {
    title: 'withdrawn consent',
    status: 401,
    error: 'invalid_token',
    message: 'No consent',
    async token(sandbox) {
      const token = granted(sandbox);
      sandbox.mcp.withdrawConsent();
      return token;
    },
  },
  {
    title: 'a token without mcp:use',
    status: 403,
    error: 'insufficient_scope',
    message: 'mcp:use',
    token: async (sandbox) => sandbox.mcp.grant(mira, { scopes: ['mcp:tasks.read'] }).access_token,
  },
  {
    title: 'a token for another resource',
    status: 403,
    error: 'invalid_token',
    message: 'another resource',
    token: async (sandbox) => (await link(sandbox, {}, { resource: `${sandbox.mcp.url}/` })).tokens.access_token,
  },
  {
    title: 'a token of a client that named no resource',
    status: 403,
    error: 'invalid_token',
    message: 'another resource',
    token: async (sandbox) => (await link(sandbox, {}, { resource: null })).tokens.access_token,
  },
  {
    title: 'a workspace whose entitlement is disabled',
    status: 403,
    error: 'invalid_token',
    message: 'disabled',
    async token(sandbox) {
      const token = granted(sandbox);
      sandbox.mcp.disable();
      return token;
    },
  },
  {
    title: 'a person who has left the workspace',
    status: 403,
    error: 'invalid_token',
    message: 'left',
    async token(sandbox) {
      const token = granted(sandbox);
      for (const workspace of sandbox.data.workspaces) workspace.members = [];
      return token;
    },
  },
];

/** Every tool but `who_am_i`, which needs no scope. */
const toolsByScope: [scope: string, tools: string[]][] = [
  ['mcp:projects.read', ['list_projects']],
  ['mcp:projects.write', ['create_project']],
  ['mcp:tasks.read', ['find_tasks']],
  ['mcp:tasks.write', ['create_task', 'update_task']],
  ['mcp:timelogs.read', ['list_time']],
  ['mcp:timelogs.write', ['log_time']],
  ['mcp:users.read', ['list_members']],
  ['mcp:tests.read', ['find_defects']],
  ['mcp:tests.write', ['report_defect']],
  ['mcp:checklists.read', ['read_checklists']],
  ['mcp:checklists.write', ['complete_checklist_items', 'delete_checklist_item']],
];

describe('the MCP endpoint', () => {
  it.each(rows)('answers $title with $status, a challenge and a JSON-RPC error', async (row) => {
    const { sandbox, time } = await startMcp();
    const token = await row.token(sandbox, time);
    const headers = typeof token === 'string' ? { authorization: `Bearer ${token}` } : token;
    const answer = await post(sandbox.mcp.url, initialize('2025-11-25'), headers);
    expect(answer.status).toBe(row.status);
    const challenge = challengeOf(answer.headers);
    expect(challenge.error).toBe(row.error);
    expect(challenge.resource_metadata).toBe(`${sandbox.url}/.well-known/oauth-protected-resource`);
    expect(answer.json).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: expect.any(Number) } });
    expect(answer.json.error.message).toContain(row.message);
    expect(sandbox.mcp.audit.at(-1)).toMatchObject({ endpoint: '/mcp/partner', status: row.status });
  });

  it.each(toolsByScope)(
    'answers a tool without its scope %s with 403, no error in the challenge, and the name',
    async (scope, tools) => {
      const { sandbox } = await startMcp();
      const connect = (scopes: string[]) =>
        McpClient.connect(sandbox, sandbox.mcp.grant(mira, { scopes }).access_token);
      const others = await connect([...grantable.keys()].filter((one) => one !== scope));
      for (const tool of tools) {
        const answer = await others.call(tool);
        expect(answer.status).toBe(403);
        expect(challengeOf(answer.headers)).not.toHaveProperty('error');
        expect(answer.json.error.message).toBe(`The tool ${tool} needs the scope ${scope}`);
      }
      const only = await connect(['mcp:use', scope]);
      for (const tool of tools) expect((await only.call(tool)).status).toBe(200);
      const refused = sandbox.mcp.calls.filter(({ outcome }) => outcome === 'refused');
      expect(refused.map(({ tool }) => tool)).toEqual(tools);
    },
  );

  it('has no other tools, and so none that changes members', async () => {
    const { sandbox } = await startMcp();
    const client = await McpClient.connect(sandbox, granted(sandbox));
    const known = ['who_am_i', ...toolsByScope.flatMap(([, tools]) => tools)];
    expect((await client.tools()).toSorted()).toEqual(known.toSorted());
  });

  it('takes a scope away that the workspace no longer allows', async () => {
    const { sandbox } = await startMcp();
    const client = await McpClient.connect(sandbox, granted(sandbox));
    sandbox.mcp.enable(undefined, ['mcp:use']);
    expect((await client.call('list_time')).status).toBe(403);
    sandbox.mcp.enable();
    expect((await client.call('list_time')).status).toBe(200);
  });

  it('works again, also with old tokens, once MCP is enabled again', async () => {
    const { sandbox } = await startMcp();
    const token = granted(sandbox);
    sandbox.mcp.disable();
    await expect(McpClient.connect(sandbox, token)).rejects.toThrow('403');
    sandbox.mcp.enable();
    await expect(McpClient.connect(sandbox, token)).resolves.toBeDefined();
  });

  it('does not name the discovery document when it is told not to', async () => {
    const { sandbox } = await startMcp({ tellsResourceMetadata: false });
    const { headers } = await post(sandbox.mcp.url, initialize('2025-11-25'), {});
    expect(challengeOf(headers)).not.toHaveProperty('resource_metadata');
  });

  it('is not for web pages', async () => {
    const { sandbox } = await startMcp();
    const authorization = `Bearer ${granted(sandbox)}`;
    const from = (origin: string) => post(sandbox.mcp.url, initialize('2025-11-25'), { authorization, origin });
    expect((await from('https://attacker.example')).status).toBe(403);
    expect((await from('http://localhost.attacker.example')).status).toBe(403);
    expect((await from('http://localhost:3000')).status).toBe(200);
  });
});

describe('the limits of the MCP endpoint', () => {
  it('are 120 a minute by default', async () => {
    const { sandbox, time } = await startMcp();
    const headers = { authorization: `Bearer ${granted(sandbox)}` };
    const statuses = new Map<number, number>();
    const send = async () => {
      const { status } = await post(sandbox.mcp.url, initialize('2025-11-25'), headers);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    };
    for (let call = 0; call < 121; call += 1) await send();
    expect(Object.fromEntries(statuses)).toEqual({ 200: 120, 429: 1 });
    time.now += 60_000;
    await send();
    expect(statuses.get(200)).toBe(121);
  });

  it('are 5000 a day by default', async () => {
    const { sandbox } = await startMcp({ rateLimit: { perMinute: 10_000 } });
    const send = async () => (await fetch(sandbox.mcp.url, { method: 'POST' })).status;
    for (let batch = 0; batch < 50; batch += 1) {
      const statuses = await Promise.all(Array.from({ length: 100 }, send));
      expect(new Set(statuses)).toEqual(new Set([401]));
    }
    expect(await send()).toBe(429);
  });

  it('answer 429 with the code -32500, a challenge and no error in it', async () => {
    const { sandbox } = await startMcp({ rateLimit: { perMinute: 1 } });
    await post(sandbox.mcp.url, initialize('2025-11-25'), {});
    const answer = await post(sandbox.mcp.url, initialize('2025-11-25'), {});
    expect([answer.status, answer.json.error.code]).toEqual([429, -32500]);
    expect(challengeOf(answer.headers)).not.toHaveProperty('error');
    expect(answer.headers.has('retry-after')).toBe(false);
  });

  it('count every day, however the minutes went', async () => {
    const { sandbox, time } = await startMcp({ rateLimit: { perDay: 2, tellsRetryAfter: true } });
    const statuses: number[] = [];
    for (let call = 0; call < 3; call += 1) {
      const answer = await post(sandbox.mcp.url, initialize('2025-11-25'), {});
      statuses.push(answer.status);
      if (answer.status === 429) expect(answer.headers.get('retry-after')).toBe(String(24 * 3600 - 2 * 3600));
      time.now += hourMs;
    }
    expect(statuses).toEqual([401, 401, 429]);
  });

  // Only Linux has all of 127.0.0.0/8 without setting it up.
  it.runIf(process.platform === 'linux')('count for each calling address', async () => {
    const { sandbox } = await startMcp({ rateLimit: { perMinute: 1 } });
    const callFrom = (localAddress: string) => {
      const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
      request(sandbox.mcp.url, { method: 'POST', localAddress }, ({ statusCode }) => resolve(statusCode))
        .once('error', reject)
        .end();
      return promise;
    };
    expect([await callFrom('127.0.0.1'), await callFrom('127.0.0.1'), await callFrom('127.0.0.2')]).toEqual([
      401, 429, 401,
    ]);
  });

  it('leave OAuth and the partner API alone', async () => {
    const { sandbox } = await startMcp({ rateLimit: { perMinute: 1 } });
    for (let call = 0; call < 3; call += 1) await post(sandbox.mcp.url, '{}', {});
    expect((await link(sandbox)).status).toBe(200);
  });
});
