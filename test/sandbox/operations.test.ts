import { describe, expect, it } from 'vitest';
import { operations } from '../../sandbox/routes.ts';
import { keyOwnerId } from '../../sandbox/seed.ts';
import { call, startAtNoon } from './signed-request.ts';

const project_id = '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01';
const task_id = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01';
const otherTask = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e03';
const user_id = 'b0d3a1c4-52e7-4f86-8a19-3c6d9e0f2a02';
const timelog_id = 'c2e8a6f1-9d47-4b03-8f5e-6a1d4c7b9e01';
const defect_id = 'a1b7f4d2-8c36-4e95-b07d-5d2c9e6f3b01';
const test_case_id = 'e57a8c31-6d02-4b9f-a4c3-1b8e2f7d6a01';
const scenario_id = 'f3c9d5e8-7a14-4d60-9b2f-2e8a1c6b4d01';
const unknown = '00000000-0000-4000-8000-000000000000';
const work_item = { work_item_type: 'task', work_item_id: task_id };

const [reorder, complete] = ['/work-items/checklist/groups/reorder', '/work-items/checklist/items/complete'];

describe('operations', () => {
  it.each([
    ['/validate', {}, 200, {}],
    ['/projects/create', { name: 'Warehouse', priority: 'high' }, 201, { name: 'Warehouse', isactive: true }],
    ['/projects/detail', { project_id }, 200, { name: 'Web Shop', short_name: 'WS' }],
    ['/projects/update', { project_id, status: 'on_hold' }, 200, { status: 'on_hold', name: 'Web Shop' }],
    [
      '/tasks/create',
      { project_id, title: 'Try it', unknown: 1 },
      200,
      { title: 'Try it', name: 'Try it', status: 'open' },
    ],
    [
      '/tasks/create',
      { project_id, name: 'Try it', assigned_to: user_id },
      200,
      { title: 'Try it', assigned_to: user_id },
    ],
    ['/tasks/detail', { task_id }, 200, { title: 'Release checkout 2.4' }],
    [
      '/tasks/update',
      { task_id, status: 'done' },
      200,
      { status: 'done', title: 'Release checkout 2.4', assigned_to: user_id },
    ],
    ['/timelogs/detail', { timelog_id }, 200, { hours: 3.5 }],
    [
      '/timelogs/create',
      { task_id, user_id, date: '2026-02-03', hours: 1.5, note: 'Fix' },
      201,
      { hours: 1.5, note: 'Fix', project_id },
    ],
    [
      '/test-scenarios/create',
      { project_id, name: 'Returns', coverage_percentage: 12.5 },
      201,
      { coverage_percentage: 12.5 },
    ],
    ['/test-scenarios/update', { scenario_id, status: 'ready' }, 200, { status: 'ready', name: 'Checkout' }],
    [
      '/defects/create',
      { project_id, title: 'Crash', severity: 'critical' },
      201,
      { title: 'Crash', severity: 'critical', task_id: null },
    ],
    [
      '/defects/update',
      { defect_id, severity: 'critical' },
      200,
      { severity: 'critical', priority: 'high', title: 'Voucher is applied twice' },
    ],
    ['/defects/link', { defect_id, test_step_id: 2 }, 200, { test_step_id: 2, task_id }],
    ['/defects/link', { defect_id, test_case_id, task_id: otherTask }, 200, { test_case_id, task_id: otherTask }],
  ])('%s with %o: %i', async (operation, payload, status, data) => {
    const { sandbox } = await startAtNoon();
    const answer = await call(sandbox, operation, payload);
    expect(answer).toMatchObject({ status, json: { success: true, data } });
    expect(answer.json.data).not.toHaveProperty('unknown');
    expect(answer.headers.get('content-type')).toBe('application/json');
  });

  it.each([
    ['/projects/list', { page: 0 }, 422, { page: 'must be an integer of at least 1' }],
    ['/projects/create', { name: ' ' }, 422, { name: 'must be a string that is not empty' }],
    ['/projects/create', { name: 'A', start_date: '2026-02-30' }, 422, { start_date: 'must be a date as YYYY-MM-DD' }],
    ['/projects/create', { name: 'A', estimated_hours: '8' }, 422, { estimated_hours: 'must be a number' }],
    ['/projects/detail', { project_id: '17' }, 422, { project_id: 'must be a UUID' }],
    ['/projects/detail', { project_id: unknown }, 422, undefined],
    ['/projects/search', {}, 422, { q: 'is required' }],
    ['/tasks/list', {}, 422, { project_id: 'is required' }],
    ['/tasks/create', { project_id }, 422, { title: 'is required' }],
    ['/tasks/create', { project_id: unknown, title: 'A' }, 422, undefined],
    ['/tasks/create', { project_id, title: 'A', assigned_to: unknown }, 422, undefined],
    ['/tasks/detail', { task_id: unknown }, 422, undefined],
    ['/timelogs/detail', { timelog_id: unknown }, 422, undefined],
    [
      '/timelogs/create',
      { task_id, user_id, date: '2026-02-03', hours: 0 },
      422,
      { hours: 'must be more than 0 and at most 24' },
    ],
    ['/timelogs/create', { task_id: unknown, user_id, date: '2026-02-03', hours: 1 }, 422, undefined],
    ['/test-scenarios/create', { project_id: unknown, name: 'A' }, 400, undefined],
    ['/test-scenarios/update', { scenario_id: unknown }, 404, undefined],
    ['/test-steps/create', { name: 'A' }, 400, { test_case_id: 'is required' }],
    ['/test-steps/create', { test_case_id: unknown, name: 'A' }, 400, undefined],
    ['/test-steps/delete', { test_case_id, step_id: 99 }, 404, undefined],
    ['/test-steps/delete', { test_case_id: unknown, step_id: 1 }, 404, undefined],
    ['/defects/create', { title: 7 }, 400, { project_id: 'is required', title: 'must be a string that is not empty' }],
    ['/defects/create', { project_id: unknown, title: 'A' }, 400, undefined],
    ['/defects/update', { defect_id: unknown }, 404, undefined],
    [
      '/defects/link',
      { defect_id },
      400,
      { test_case_id: 'at least one of test_case_id, test_step_id and task_id is required' },
    ],
    ['/defects/link', { defect_id, task_id: unknown }, 400, undefined],
    ['/defects/link', { defect_id: unknown, task_id }, 404, undefined],
    [reorder, { ...work_item, group_ids: ['11'] }, 422, { group_ids: 'must be an array of integers' }],
    [reorder, { ...work_item, group_ids: [11, 11, 12] }, 422, undefined],
    [reorder, { ...work_item, work_item_id: unknown, group_ids: [] }, 404, undefined],
    [reorder, { work_item_type: 'task', work_item_id: otherTask, group_ids: [21] }, 403, undefined],
    [complete, { item_id: 103, is_completed: 'yes' }, 422, { is_completed: 'must be a boolean' }],
    [complete, { item_id: 999 }, 404, undefined],
    [complete, { item_id: 201 }, 403, undefined],
  ])('%s refuses %o: %i', async (operation, payload, status, errors) => {
    const { sandbox } = await startAtNoon();
    const before = structuredClone(sandbox.data);
    const { json, ...answer } = await call(sandbox, operation, payload);
    expect({ ...json, status: answer.status }).toEqual({
      status,
      success: false,
      message: expect.any(String),
      data: null,
      errors,
    });
    expect(sandbox.audit.at(-1)).toMatchObject({ status, reason: json.message });
    expect(sandbox.data).toEqual(before);
  });

  it.each([
    ['/projects/list', {}, 3],
    ['/projects/search', { q: 'PHONE' }, 1],
    ['/tasks/list', { project_id }, 2],
    ['/tasks/list', { project_id, status: 'open' }, 1],
    ['/tasks/list', { project_id, assigned_to: user_id }, 1],
    ['/tasks/search', { q: 'passkeys' }, 1],
    ['/tasks/search', { q: 'passkeys', project_id }, 0],
    ['/timelogs/list', {}, 3],
    ['/timelogs/list', { date_from: '2026-01-13' }, 2],
    ['/timelogs/list', { date_to: '2026-01-12', user_id, task_id, project_id }, 1],
    ['/timelogs/search', { date_from: '2026-01-13', project_id }, 1],
    ['/users/list', {}, 5],
    ['/defects/list', { project_id: unknown }, 0],
  ])('%s with %o finds %i', async (operation, payload, found) => {
    const { sandbox } = await startAtNoon();
    const { status, json, rows } = await call(sandbox, operation, payload);
    expect([status, rows.length]).toEqual([200, found]);
    if (operation !== '/projects/list') expect(json.pagination?.total).toBe(found);
    else expect(json).not.toHaveProperty('pagination');
  });

  it.each([
    ['/users/list', { page: 2, per_page: 2 }, { total: 5, per_page: 2, current_page: 2, last_page: 3, from: 3, to: 4 }],
    ['/users/list', { page: 3, per_page: 2 }, { total: 5, per_page: 2, current_page: 3, last_page: 3, from: 5, to: 5 }],
    ['/users/list', { page: 9 }, { total: 5, per_page: 20, current_page: 9, last_page: 1, from: 0, to: 0 }],
    ['/projects/list', { limit: 2 }, { total: 3, per_page: 2, current_page: 1, last_page: 2, from: 1, to: 2 }],
    [
      '/tasks/search',
      { q: 'nothing like it' },
      { total: 0, per_page: 20, current_page: 1, last_page: 1, from: 0, to: 0 },
    ],
  ])('%s pages %o', async (operation, payload, pagination) => {
    const { sandbox } = await startAtNoon();
    expect((await call(sandbox, operation, payload)).json.pagination).toEqual(pagination);
  });

  it('return a project as documented', async () => {
    const { sandbox } = await startAtNoon();
    const { json } = await call(sandbox, '/projects/create', { name: 'Warehouse', priority: 'high' });
    expect(Object.keys(json.data).toSorted()).toEqual(
      `description dt_created dt_updated end_date estimated_hours is_favourite isactive name project_id project_type
       short_name start_date status`.split(/\s+/),
    );
    expect(json.data.dt_created).toBe('2026-02-03 12:00:00');
    expect(sandbox.data.projects.at(-1)?.priority).toBe('high');
  });

  it('list defects with the newest first', async () => {
    const { sandbox } = await startAtNoon();
    for (const title of ['second', 'third']) await call(sandbox, '/defects/create', { project_id, title });
    const { rows } = await call(sandbox, '/defects/list', { project_id, per_page: 2 });
    expect(rows.map(({ title }) => title)).toEqual(['third', 'second']);
  });

  it.each([
    ...[true, 1, '1', 'true', 'YES'].map((value) => [value, undefined] as const),
    ...[false, 0, '0', 'no', '', null, [], {}, undefined].map((value) => [value, 'archived'] as const),
  ])('take hard_delete %j of any type, and then the step is %s', async (hard_delete, expected) => {
    const { sandbox } = await startAtNoon();
    const { status } = await call(sandbox, '/test-steps/delete', { test_case_id, step_id: 1, hard_delete });
    expect(status).toBe(200);
    expect(sandbox.data.testSteps.find(({ step_id }) => step_id === 1)?.status).toBe(expected);
  });

  it('append a test step at the end, and archive or delete one', async () => {
    const { sandbox } = await startAtNoon();
    const { json, status } = await call(sandbox, '/test-steps/create', { test_case_id, name: 'Log out' });
    expect([status, json.data.step_order]).toEqual([201, 4]);
    await call(sandbox, '/test-steps/delete', { test_case_id, step_id: 1 });
    await call(sandbox, '/test-steps/delete', { test_case_id, step_id: 2, hard_delete: true });
    expect(sandbox.data.testSteps.map(({ step_id, status }) => [step_id, status])).toEqual([
      [1, 'archived'],
      [3, 'active'],
      [4, 'active'],
    ]);
  });

  it('put checklist groups into the order of group_ids', async () => {
    const { sandbox } = await startAtNoon();
    const { rows } = await call(sandbox, reorder, { ...work_item, group_ids: [13, 11, 12] });
    expect(rows.map(({ group_id }) => group_id)).toEqual([13, 11, 12]);
    const orders = sandbox.data.checklistGroups.map(({ group_id, group_order }) => [group_id, group_order]);
    expect(orders).toEqual([
      [11, 2],
      [12, 3],
      [13, 1],
      [21, 1],
    ]);
  });

  it('complete a checklist item by toggle and explicitly', async () => {
    const { sandbox, time } = await startAtNoon();
    const completion = async (is_completed?: boolean) => {
      const { json } = await call(sandbox, complete, { item_id: 103, is_completed });
      return [json.data.is_completed, json.data.completed_by, json.data.completed_at];
    };
    expect(await completion()).toEqual([true, keyOwnerId, '2026-02-03 12:00:00']);
    expect(await completion()).toEqual([false, null, null]);
    expect(await completion(true)).toEqual([true, keyOwnerId, '2026-02-03 12:00:00']);
    time.now += 1000;
    expect(await completion(true)).toEqual([true, keyOwnerId, '2026-02-03 12:00:01']);
    expect(await completion(false)).toEqual([false, null, null]);
    expect(await completion(false)).toEqual([false, null, null]);
  });

  it('are the 22 that are documented and four that are assumed', () => {
    const assumed = operations.filter(({ evidence }) => evidence === 'assumed').map(({ path }) => path);
    expect(assumed).toEqual(['/timelogs/create', '/users/list', '/defects/create', '/defects/list']);
    expect(operations).toHaveLength(22 + assumed.length);
  });
});

describe('renaming', () => {
  it('gives an assumed operation another path and other fields', async () => {
    const fields = { title: 'summary' };
    const rename = {
      '/defects/create': { path: '/bugs/create', fields },
      '/defects/list': { fields },
      '/tasks/detail': { fields: { task_id: 'id' } },
    };
    const { sandbox } = await startAtNoon({ rename });
    const created = await call(sandbox, '/bugs/create', { project_id, summary: 'Crash' });
    expect(created).toMatchObject({ status: 201, json: { data: { summary: 'Crash' } } });
    expect(sandbox.data.defects.at(-1)?.title).toBe('Crash');
    expect((await call(sandbox, '/defects/list', {})).rows[0]?.summary).toBe('Crash');
    expect((await call(sandbox, '/tasks/detail', { id: task_id })).json.data.id).toBe(task_id);
    const unrenamed = await call(sandbox, '/bugs/create', { project_id, title: 'Crash' });
    expect(unrenamed.json.errors).toEqual({ summary: 'is required' });
    expect((await call(sandbox, '/defects/create', { project_id, title: 'Crash' })).status).toBe(404);
  });

  it.each([
    ['/defects/update', { fields: { title: 'summary' } }, '/defects/update is documented'],
    ['/tasks/list', { path: '/tasks' }, 'the path /tasks/list is documented'],
    ['/defects/open', {}, 'there is no operation /defects/open'],
  ])('refuses %s', async (path, renamed, message) => {
    await expect(startAtNoon({ rename: { [path]: renamed } })).rejects.toThrow(`rename: ${message}`);
  });
});
