import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { grantable } from '../../../sandbox/mcp/scopes.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import { mcpErrors } from '../../mcp-errors.ts';
import { initialize, link, McpClient, mira, post, type RpcAnswer, startMcp } from './mcp-client.ts';

/** The challenge of an answer, by parameter. */
function challengeOf(headers: Headers): Record<string, string> {
  const text = headers.get('www-authenticate') ?? '';
  expect(text).toMatch(/^Bearer /);
  return Object.fromEntries([...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]));
}

const granted = (sandbox: Sandbox) => sandbox.mcp.grant(mira).access_token;
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** The answer to a handshake, or, if that succeeds, to the call of a tool after it. */
async function answerTo(sandbox: Sandbox, headers: Record<string, string>): Promise<RpcAnswer> {
  const first = await post(sandbox.mcp.url, initialize('2025-11-25'), headers);
  if (first.status !== 200) return first;
  return (await McpClient.connect(sandbox, headers)).call('list_projects');
}

/** Every tool. */
const toolsByScope: [scope: string, tools: string[]][] = [
  ['mcp:projects.read', ['list_projects']],
  ['mcp:tasks.read', ['find_tasks']],
  ['mcp:tasks.write', ['create_task']],
  ['mcp:timelogs.read', ['list_time']],
  ['mcp:timelogs.write', ['log_time']],
  ['mcp:tests.write', ['report_defect']],
  ['mcp:checklists.write', ['complete_checklist_items', 'delete_checklist_item']],
  ['mcp:projects.write', ['create_project']],
  ['mcp:epics.write', ['create_epic']],
  ['mcp:sprints.read', ['list_sprints']],
  ['mcp:sprints.write', ['create_sprint']],
  ['mcp:users.read', ['list_members']],
  ['mcp:tests.read', ['list_test_scenarios']],
  ['mcp:checklists.read', ['list_checklists']],
  ['mcp:context.read', ['read_context']],
  ['mcp:context.write', ['save_context']],
  ['mcp:documents.read', ['search_documents']],
];

describe('the MCP endpoint', () => {
  it.each(mcpErrors)('answers with a challenge and a JSON-RPC error: $title', async (row) => {
    const { sandbox } = await startMcp();
    const { scopes, resource, happens, isWithoutToken } = row;
    const parameters: Record<string, string> = resource ? { resource: resource(sandbox) } : {};
    const { tokens } = await link(sandbox, scopes ? { scopes } : {}, parameters);
    happens?.(sandbox);
    const answer = await answerTo(sandbox, isWithoutToken ? {} : bearer(tokens.access_token));
    expect(answer.status).toBe(row.status);
    const challenge = challengeOf(answer.headers);
    expect(challenge.error).toBe(row.error);
    expect(challenge.resource_metadata).toBe(`${sandbox.url}/.well-known/oauth-protected-resource`);
    expect(answer.json.error).toMatchObject({
      code: row.status === 429 ? -32500 : expect.any(Number),
      message: expect.stringContaining(row.message),
    });
    expect(sandbox.mcp.audit.at(-1)).toMatchObject({ endpoint: '/mcp/partner', status: row.status });
  });

  it.each<[string, (sandbox: Sandbox) => Record<string, string>, number, string]>([
    ['an API key', ({ keys }) => ({ 'x-api-key': keys[0]?.apiKey ?? '' }), 401, 'bearer token is required'],
    ['an invalid signature', (sandbox) => bearer(`${granted(sandbox).slice(0, -4)}AAAA`), 401, 'signature'],
    ['the token of a person who has left the workspace', ofLeaver, 403, 'left'],
  ])('refuses %s', async (_, headers, status, message) => {
    const { sandbox } = await startMcp();
    const answer = await answerTo(sandbox, headers(sandbox));
    expect([answer.status, answer.json.error.message]).toEqual([status, expect.stringContaining(message)]);
  });

  function ofLeaver(sandbox: Sandbox): Record<string, string> {
    const token = granted(sandbox);
    for (const workspace of sandbox.data.workspaces) workspace.members = [];
    return bearer(token);
  }

  it.each(toolsByScope)('answers a tool without its scope %s with 403 and the name', async (scope, tools) => {
    const { sandbox } = await startMcp();
    const connect = (scopes: string[]) => McpClient.connect(sandbox, sandbox.mcp.grant(mira, { scopes }).access_token);
    const others = await connect([...grantable.keys()].filter((one) => one !== scope));
    const only = await connect(['mcp:use', scope]);
    for (const tool of tools) {
      const answer = await others.call(tool);
      expect([answer.status, answer.json.error.message]).toEqual([403, `The tool ${tool} needs the scope ${scope}`]);
      expect((await only.call(tool)).status).toBe(200);
    }
  });

  it('has a tool for each scope of the contract', () => {
    const scopes = [...grantable.keys()].filter((scope) => scope !== 'mcp:use');
    expect(toolsByScope.map(([scope]) => scope).toSorted()).toEqual(scopes.toSorted());
  });

  it('has no other tools, and so none that changes members', async () => {
    const { sandbox } = await startMcp();
    const client = await McpClient.connect(sandbox, granted(sandbox));
    expect((await client.tools()).toSorted()).toEqual(toolsByScope.flatMap(([, tools]) => tools).toSorted());
  });

  it('takes a scope away that the workspace no longer allows', async () => {
    const { sandbox } = await startMcp();
    const client = await McpClient.connect(sandbox, granted(sandbox));
    sandbox.mcp.enable(undefined, ['mcp:use']);
    expect((await client.call('list_time')).status).toBe(403);
    sandbox.mcp.enable();
    expect((await client.call('list_time')).status).toBe(200);
  });

  it('allows no scope that is reserved', async () => {
    const { sandbox } = await startMcp();
    expect(() => sandbox.mcp.enable(undefined, ['mcp:users.write'])).toThrow(
      'there is no scope mcp:users.write to allow',
    );
  });

  it('is not for web pages', async () => {
    const { sandbox } = await startMcp();
    const from = (origin: string) =>
      post(sandbox.mcp.url, initialize('2025-11-25'), { ...bearer(granted(sandbox)), origin });
    expect((await from('https://attacker.example')).status).toBe(403);
    expect((await from('http://localhost.attacker.example')).status).toBe(403);
    expect((await from('http://localhost:3000')).status).toBe(200);
  });
});

describe('the limits of the MCP endpoint', () => {
  it('are 120 a minute by default', async () => {
    const { sandbox, time } = await startMcp();
    const send = async () => (await post(sandbox.mcp.url, initialize('2025-11-25'), {})).status;
    for (let call = 0; call < 120; call += 1) expect(await send()).toBe(401);
    expect(await send()).toBe(429);
    time.now += 60_001;
    expect(await send()).toBe(401);
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
});
