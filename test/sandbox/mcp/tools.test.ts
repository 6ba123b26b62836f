import { describe, expect, it } from 'vitest';
import { keyOwnerId, tomasz as tomaszId } from '../../../sandbox/seed.ts';
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

  it.each([
    ['create_project', { name: 'Depot' }, 'projects', { name: 'Depot', created_by: tomaszId }],
    ['create_epic', { project: shop, title: 'Returns' }, 'tasks', { title: 'Returns', created_by: tomaszId }],
    ['create_sprint', { project: shop, text: 'Sprint 8' }, 'notes', { kind: 'sprint', text: 'Sprint 8' }],
    ['save_context', { project: shop, text: 'Net prices' }, 'notes', { kind: 'context', text: 'Net prices' }],
  ] as const)('%s creates what it says', async (tool, args, collection, expected) => {
    const { sandbox, client } = await startAs(tomasz);
    await client.call(tool, args);
    expect(sandbox.data[collection].at(-1)).toMatchObject(expected);
  });

  it('deletes, when it is destructive', async () => {
    const { sandbox, client } = await startAs();
    await client.call('delete_checklist_item', { item: 104 });
    expect(sandbox.data.checklistItems.map(({ item_id }) => item_id)).toEqual([101, 102, 103, 201]);
  });

  it.each([
    ['list_projects', {}, 'projects', 3, 1],
    ['find_tasks', {}, 'tasks', 5, 2],
    ['find_tasks', { mine: true }, 'tasks', 1, 1],
    ['find_tasks', { containing: 'PASSKEYS' }, 'tasks', 1, 0],
    ['list_time', { from: '2026-01-13' }, 'entries', 1, 0],
    ['list_sprints', {}, 'found', 1, 1],
    ['read_context', {}, 'found', 1, 1],
    ['search_documents', {}, 'found', 1, 1],
    ['list_members', {}, 'members', 2, 2],
    ['list_test_scenarios', {}, 'scenarios', 1, 1],
    ['list_checklists', { task: checkout }, 'groups', 3, 3],
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

  it('acts in the workspace of the grant, and sees what is there', async () => {
    const { sandbox, client: inStudio } = await startAs();
    sandbox.mcp.enable(fieldTeam);
    const tokens = sandbox.mcp.grant(mira, { workspace_id: fieldTeam });
    const inFieldTeam = await McpClient.connect(sandbox, tokens.access_token);
    const projects = async (client: McpClient) =>
      (await client.call('list_projects')).json.result.structuredContent?.projects;
    expect(await projects(inFieldTeam)).toEqual([]);
    expect(await projects(inStudio)).toHaveLength(3);
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
});

describe('the list of tools', () => {
  it('comes in pages', async () => {
    const { client } = await startAs();
    const { json } = await client.request('tools/list');
    expect(json.result.tools).toHaveLength(3);
    const names = await client.tools();
    expect(names).toHaveLength(new Set(names).size);
    expect(names).toEqual(expect.arrayContaining(['list_projects', 'log_time', 'complete_checklist_items']));
    expect((await client.request('tools/list', { cursor: 'guess' })).json.error.code).toBe(-32602);
  });

  it('can have other names, and tell its scopes', async () => {
    const { sandbox, client } = await startAs(mira, {
      renameTools: { log_time: 'zeit.buchen' },
      tellsToolScopes: true,
      toolsPerPage: 100,
    });
    const { tools } = (await client.request('tools/list')).json.result;
    expect(tools.find(({ name }) => name === 'zeit.buchen')).toMatchObject({ _meta: { scope: 'mcp:timelogs.write' } });
    await client.call('zeit.buchen', { task: checkout, hours: 3 });
    expect(sandbox.data.timelogs.at(-1)).toMatchObject({ hours: 3 });
    expect((await client.call('log_time')).json.error.code).toBe(-32602);
  });
});
