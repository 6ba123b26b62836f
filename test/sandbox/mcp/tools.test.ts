import { describe, expect, it } from 'vitest';
import { keyOwnerId, mira as miraId, tomasz as tomaszId } from '../../../sandbox/seed.ts';
import { call as callPartner } from '../signed-request.ts';
import { McpClient, mira, startMcp, tomasz } from './mcp-client.ts';

const shop = '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01';
const app = '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c02';
const checkout = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01';
const login = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e03';
const fieldTeam = '2b7d9f04-8e31-4c65-a0f2-9d4b6c1e7a02';

async function startAs(...[email = mira, options = {}]: [string?, Parameters<typeof startMcp>[0]?]) {
  const { sandbox, time } = await startMcp(options);
  const client = await McpClient.connect(sandbox, sandbox.mcp.grant(email).access_token);
  return { sandbox, time, client };
}

describe('a tool call', () => {
  it('is done by the person, in the records of the partner API', async () => {
    const { sandbox, client } = await startAs(tomasz);
    await client.call('log_time', { task: checkout, hours: 1.5, comment: 'Reviewed' });
    const { rows } = await callPartner(sandbox, '/timelogs/list', { user_id: tomaszId });
    expect(rows).toMatchObject([{ task_id: checkout, hours: 1.5, note: 'Reviewed', date: '2026-02-03' }]);
    await client.call('complete_checklist_items', { items: [101, 102], done: true });
    expect(sandbox.data.checklistItems.slice(0, 2)).toMatchObject([
      { is_completed: true, completed_by: tomaszId },
      { is_completed: true, completed_by: tomaszId },
    ]);
    await client.call('report_defect', { project: shop, title: 'Cart is empty' });
    await client.call('create_task', { project: shop, title: 'Fill the cart' });
    expect(sandbox.data.defects.at(-1)).toMatchObject({ title: 'Cart is empty', created_by: tomaszId });
    expect(sandbox.data.tasks.at(-1)).toMatchObject({ title: 'Fill the cart', created_by: tomaszId });
    await callPartner(sandbox, '/defects/create', { project_id: shop, title: 'By the key' });
    expect(sandbox.data.defects.at(-1)).toMatchObject({ created_by: keyOwnerId });
    expect(sandbox.mcp.calls).toMatchObject([{ user_id: tomaszId, tool: 'log_time', outcome: 'done' }, {}, {}, {}]);
  });

  it('changes only what it is given', async () => {
    const { sandbox, client } = await startAs();
    await client.call('update_task', { task: checkout, due: '2026-03-01' });
    expect(sandbox.data.tasks[0]).toMatchObject({ title: 'Release checkout 2.4', due_date: '2026-03-01' });
  });

  it('deletes, when it is destructive', async () => {
    const { sandbox, client } = await startAs();
    await client.call('delete_checklist_item', { item: 104 });
    expect(sandbox.data.checklistItems.map(({ item_id }) => item_id)).toEqual([101, 102, 103, 201]);
    const { json } = await client.call('read_checklists', { task: checkout });
    expect(json.result.structuredContent?.groups).toMatchObject([
      { group: 11 },
      { group: 12 },
      { group: 13, items: [] },
    ]);
  });

  it.each([
    ['list_projects', {}, 'projects', 3, 1],
    ['find_tasks', {}, 'tasks', 5, 2],
    ['find_tasks', { mine: true }, 'tasks', 1, 1],
    ['find_tasks', { containing: 'PASSKEYS' }, 'tasks', 1, 0],
    ['find_defects', { project: shop }, 'defects', 1, 1],
    ['list_members', {}, 'members', 2, 2],
    ['list_time', { from: '2026-01-13' }, 'entries', 1, 0],
  ])('%s %o shows what the person can see', async (tool, args, field, ofMira, ofTomasz) => {
    const { sandbox } = await startMcp();
    for (const [email, expected] of [
      [mira, ofMira],
      [tomasz, ofTomasz],
    ] as const) {
      const client = await McpClient.connect(sandbox, sandbox.mcp.grant(email).access_token);
      const { json } = await client.call(tool, args);
      expect(json.result.structuredContent?.[field]).toHaveLength(expected);
    }
  });

  it.each([
    ['log_time', { task: login, hours: 1 }, 'Task not found'],
    ['update_task', { task: login, title: 'Mine' }, 'Task not found'],
    ['read_checklists', { task: login }, 'Task not found'],
    ['create_task', { project: app, title: 'Mine' }, 'Project not found'],
    ['report_defect', { project: app, title: 'Mine' }, 'Project not found'],
    ['complete_checklist_items', { items: [201], done: true }, 'Checklist item not found'],
  ])('%s %o says of what is invisible that it does not exist', async (tool, args, text) => {
    const { sandbox, client } = await startAs(tomasz);
    const before = structuredClone(sandbox.data);
    const { status, json } = await client.call(tool, args);
    expect([status, json.result.isError, json.result.content[0]?.text]).toEqual([200, true, text]);
    expect(sandbox.data).toEqual(before);
  });

  it('acts in the workspace of the grant, and sees what was made there', async () => {
    const { sandbox, client: inStudio } = await startAs();
    sandbox.mcp.enable(fieldTeam);
    const tokens = sandbox.mcp.grant(mira, { workspace_id: fieldTeam });
    const client = await McpClient.connect(sandbox, tokens.access_token);
    await client.call('create_project', { name: 'Trade fair' });
    const names = async (asked: McpClient) =>
      (await asked.call('list_projects')).json.result.content[0]?.text.match(/"name":"[^"]*"/g)?.length;
    expect([await names(client), await names(inStudio)]).toEqual([1, 3]);
    expect(sandbox.data.projects.at(-1)).toMatchObject({ created_by: miraId, workspace_id: fieldTeam });
    const { rows } = await callPartner(sandbox, '/projects/list', {});
    expect(rows.at(-1)).not.toHaveProperty('created_by');
  });

  it.each([
    ['log_time', {}, 'task is required; hours is required'],
    ['log_time', { task: checkout, hours: '2h' }, 'hours must be a number'],
    ['log_time', { task: checkout, hours: 25 }, 'Validation failed: hours must be more than 0 and at most 24'],
    ['log_time', { task: checkout, hours: 1, day: '2026-02-30' }, 'day must be a date as YYYY-MM-DD'],
    ['log_time', { task: checkout, hours: 1, minutes: 1 }, 'minutes is unknown'],
    ['create_task', { project: shop, title: '' }, 'Validation failed: title must be a string that is not empty'],
    ['create_task', { project: shop, title: 'x', priority: 'urgent' }, 'priority must be one of low, medium, high'],
    ['create_task', { project: shop, title: 'x', assignee: 'no one' }, 'User not found'],
    ['complete_checklist_items', { items: [], done: true }, 'items must have at least 1 entries'],
    ['complete_checklist_items', { items: [1.5], done: 1 }, 'items must be an integer; done must be true or false'],
    ['complete_checklist_items', { items: 101, done: true }, 'items must be a list'],
    ['complete_checklist_items', { items: [201], done: true }, 'Not allowed to manage this checklist'],
  ])('%s %o fails with the reason: %s', async (tool, args, text) => {
    const { client } = await startAs();
    const { json } = await client.call(tool, args);
    expect(json.result).toMatchObject({ isError: true, content: [{ type: 'text', text }] });
  });

  it('of an unknown tool is an error of the protocol', async () => {
    const { client } = await startAs();
    expect((await client.call('no_such_tool')).json.error).toMatchObject({ code: -32602 });
    const { json } = await client.request('tools/call', { name: { toString: 1 } });
    expect(json.error).toMatchObject({ code: -32602 });
  });
});

describe('the list of tools', () => {
  it('comes in pages', async () => {
    const { client } = await startAs();
    const { json } = await client.request('tools/list');
    expect(json.result.tools).toHaveLength(5);
    const names = await client.tools();
    expect(names).toHaveLength(new Set(names).size);
    expect(names).toEqual(expect.arrayContaining(['who_am_i', 'log_time', 'delete_checklist_item']));
    expect((await client.request('tools/list', { cursor: 'guess' })).json.error.code).toBe(-32602);
  });

  it.each([
    ['2025-11-25', true, true],
    ['2025-03-26', true, false],
    ['2024-11-05', false, false],
  ])('has in %s what the revision knows', async (revision, annotations, titles) => {
    const { sandbox } = await startMcp();
    const client = await McpClient.connect(sandbox, sandbox.mcp.grant(mira).access_token, { revision });
    const [tool] = (await client.request('tools/list')).json.result.tools;
    expect(['annotations' in (tool ?? {}), 'title' in (tool ?? {})]).toEqual([annotations, titles]);
    expect('structuredContent' in (await client.call('who_am_i')).json.result).toBe(titles);
  });

  it('can be renamed, with the arguments', async () => {
    const { sandbox, client } = await startAs(mira, {
      renameTools: { log_time: { name: 'zeit.buchen', arguments: { hours: 'stunden', task: 'aufgabe' } } },
    });
    const names = await client.tools();
    expect([names.includes('zeit.buchen'), names.includes('log_time')]).toEqual([true, false]);
    await client.call('zeit.buchen', { aufgabe: checkout, stunden: 3 });
    expect(sandbox.data.timelogs.at(-1)).toMatchObject({ hours: 3 });
    const { json } = await client.call('zeit.buchen', { aufgabe: checkout, hours: 3 });
    expect(json.result.content[0]?.text).toBe('hours is unknown; stunden is required');
    expect((await client.call('log_time')).json.error.code).toBe(-32602);
  });

  it.each([
    [{ no_tool: { name: 'x' } }, 'there is no tool no_tool to rename'],
    [{ log_time: { arguments: { minutes: 'x' } } }, 'the tool log_time has no argument minutes to rename'],
  ])('cannot be renamed by %o', async (renameTools, complaint) => {
    await expect(startMcp({ renameTools })).rejects.toThrow(complaint);
  });

  it('can leave out what the scopes do not allow, and tell the scopes', async () => {
    const { sandbox } = await startMcp({ listsPermittedOnly: true, tellsToolScopes: true });
    const { access_token } = sandbox.mcp.grant(mira, { scopes: ['mcp:use', 'mcp:users.read'] });
    const client = await McpClient.connect(sandbox, access_token);
    expect((await client.request('tools/list')).json.result.tools).toMatchObject([
      { name: 'who_am_i', _meta: { scope: null } },
      { name: 'list_members', _meta: { scope: 'mcp:users.read' } },
    ]);
  });
});

describe('/mcp/partner-legacy', () => {
  it('is not there unless its flag is set', async () => {
    const { sandbox } = await startMcp();
    expect((await fetch(`${sandbox.url}/mcp/partner-legacy`, { method: 'POST' })).status).toBe(404);
  });

  it('takes the API key and has the same tools, without scopes', async () => {
    const { sandbox } = await startMcp({ legacy: true });
    const primary = await McpClient.connect(sandbox, sandbox.mcp.grant(mira).access_token);
    const [key] = sandbox.keys;
    const legacy = await McpClient.connect(
      sandbox,
      { 'x-api-key': key?.apiKey ?? '' },
      { path: '/mcp/partner-legacy' },
    );
    expect(await legacy.tools()).toEqual(await primary.tools());
    await legacy.call('log_time', { task: login, hours: 1 });
    expect(sandbox.data.timelogs.at(-1)).toMatchObject({ user_id: keyOwnerId });
    sandbox.revokeKey(key?.apiKey ?? '');
    expect((await legacy.call('who_am_i')).status).toBe(401);
  });
});
