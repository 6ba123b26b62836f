import { describe, expect, it } from 'vitest';
import { keyOwnerId } from '../../sandbox/seed.ts';
import { call, startAtNoon } from './signed-request.ts';

const project_id = '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01';
const task_id = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01';
const user_id = 'b0d3a1c4-52e7-4f86-8a19-3c6d9e0f2a02';

describe('operations', () => {
  it.each([
    ['/projects/list', {}, 3],
    ['/projects/search', { q: 'PHONE' }, 1],
    ['/tasks/list', { project_id, assigned_to: user_id }, 1],
    ['/tasks/search', { q: 'passkeys', project_id }, 0],
    ['/timelogs/list', { date_to: '2026-01-12', user_id, task_id, project_id }, 1],
    ['/timelogs/search', { date_from: '2026-01-13', project_id }, 1],
  ])('%s with %o finds %i', async (operation, payload, found) => {
    const { sandbox } = await startAtNoon();
    const { status, json, rows } = await call(sandbox, operation, payload);
    expect([status, rows.length]).toEqual([200, found]);
    if (operation !== '/projects/list') expect(json.pagination?.total).toBe(found);
    else expect(json).not.toHaveProperty('pagination');
  });

  it.each([
    ['/users/list', { page: 3, per_page: 2 }, { total: 5, per_page: 2, current_page: 3, last_page: 3, from: 5, to: 5 }],
    ['/users/list', { page: 9 }, { total: 5, per_page: 20, current_page: 9, last_page: 1, from: 0, to: 0 }],
    ['/projects/list', { limit: 2 }, { total: 3, per_page: 2, current_page: 1, last_page: 2, from: 1, to: 2 }],
  ])('%s pages %o', async (operation, payload, pagination) => {
    const { sandbox } = await startAtNoon();
    expect((await call(sandbox, operation, payload)).json.pagination).toEqual(pagination);
  });

  it('complete a checklist item by toggle and explicitly', async () => {
    const { sandbox, time } = await startAtNoon();
    const completion = async (is_completed?: boolean) => {
      const { json } = await call(sandbox, '/work-items/checklist/items/complete', { item_id: 103, is_completed });
      return [json.data.is_completed, json.data.completed_by, json.data.completed_at];
    };
    expect(await completion()).toEqual([true, keyOwnerId, '2026-02-03 12:00:00']);
    expect(await completion()).toEqual([false, null, null]);
    expect(await completion(true)).toEqual([true, keyOwnerId, '2026-02-03 12:00:00']);
    time.now += 1000;
    expect(await completion(true)).toEqual([true, keyOwnerId, '2026-02-03 12:00:01']);
    expect(await completion(false)).toEqual([false, null, null]);
  });
});

it.each([
  ['/defects/update', { fields: { title: 'summary' } }, '/defects/update is documented'],
  ['/tasks/list', { path: '/tasks' }, 'the path /tasks/list is documented'],
])('what is documented cannot be renamed: %s', async (path, renamed, message) => {
  await expect(startAtNoon({ rename: { [path]: renamed } })).rejects.toThrow(`rename: ${message}`);
});
