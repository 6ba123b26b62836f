import type * as z from 'zod';
import type { Operation } from '../lib/service/partner/operation.ts';
import { validate } from '../lib/service/partner/operation.ts';
import { createDefect, linkDefect, listDefects, updateDefect } from '../lib/service/partner/operations/defects.ts';
import {
  createProject,
  listProjects,
  projectDetail,
  searchProjects,
  updateProject,
} from '../lib/service/partner/operations/projects.ts';
import { createTask, listTasks, searchTasks, taskDetail, updateTask } from '../lib/service/partner/operations/tasks.ts';
import {
  createTestScenario,
  createTestStep,
  deleteTestStep,
  updateTestScenario,
} from '../lib/service/partner/operations/test-scenarios.ts';
import {
  createTimelog,
  listTimelogs,
  searchTimelogs,
  timelogDetail,
} from '../lib/service/partner/operations/timelogs.ts';
import { listUsers } from '../lib/service/partner/operations/users.ts';
import {
  completeChecklistItem,
  reorderChecklistGroups,
} from '../lib/service/partner/operations/work-item-checklists.ts';

/** The statements of docs/partner-api.md about operations, which the client's tests check against the sandbox. */

export const project_id = '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01';
export const task_id = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01';
export const user_id = 'b0d3a1c4-52e7-4f86-8a19-3c6d9e0f2a02';
const timelog_id = 'c2e8a6f1-9d47-4b03-8f5e-6a1d4c7b9e01';
export const defect_id = 'a1b7f4d2-8c36-4e95-b07d-5d2c9e6f3b01';
const test_case_id = 'e57a8c31-6d02-4b9f-a4c3-1b8e2f7d6a01';
const scenario_id = 'f3c9d5e8-7a14-4d60-9b2f-2e8a1c6b4d01';

export interface CarriedOut {
  name: string;
  operation: Operation;
  payload: object;
  /** The expected result. */
  data: unknown;
}

/** A row. The compiler checks its payload against the operation here; after that, all rows have one type. */
function row<P extends z.ZodType>(operation: Operation<P>, payload: z.input<P> & object, data: unknown): CarriedOut {
  return { name: operation.name, operation, payload, data };
}

/** Accepted calls, one row for each operation. */
export const carriedOut: readonly CarriedOut[] = [
  row(validate, { text: 'Grüße ✓', list: [1, null] }, { text: 'Grüße ✓', list: [1, null] }),
  row(listProjects, { page: 2, limit: 1 }, [{ name: 'Mobile App' }]),
  row(
    createProject,
    {
      name: 'Warehouse',
      priority: 'high',
      description: 'Stock and picking',
      status: 'active',
      start_date: '2026-03-01',
      end_date: '2026-09-30',
      estimated_hours: 120.5,
    },
    { name: 'Warehouse', start_date: '2026-03-01', estimated_hours: 120.5, isactive: true },
  ),
  row(projectDetail, { project_id }, { project_id, name: 'Web Shop', short_name: 'WS' }),
  row(updateProject, { project_id, status: 'on_hold' }, { status: 'on_hold', name: 'Web Shop' }),
  row(searchProjects, { q: 'shop', page: 1, per_page: 5 }, [{ project_id }]),
  row(listTasks, { project_id, status: 'open' }, [{ title: 'Show delivery dates in the cart' }]),
  row(createTask, { project_id, title: 'Try it' }, { title: 'Try it', status: 'open' }),
  row(taskDetail, { task_id }, { title: 'Release checkout 2.4' }),
  row(updateTask, { task_id, status: 'done' }, { status: 'done', title: 'Release checkout 2.4' }),
  row(searchTasks, { q: 'passkeys' }, [{ title: 'Login with passkeys' }]),
  row(listTimelogs, { task_id }, [{ hours: 3.5 }, { hours: 6 }]),
  row(searchTimelogs, { date_from: '2026-01-13' }, [{ hours: 6 }, { hours: 4.25 }]),
  row(timelogDetail, { timelog_id }, { hours: 3.5 }),
  row(
    createTimelog,
    { task_id, user_id, date: '2026-02-03', hours: 1.5, note: 'Fix' },
    { hours: 1.5, note: 'Fix', project_id },
  ),
  row(listUsers, { page: 2, per_page: 4 }, [{ name: 'Lucas Pereira' }]),
  row(
    createTestScenario,
    {
      project_id,
      name: 'Returns',
      description: 'From request to refund',
      type: 'functional',
      coverage_percentage: 12.5,
      test_strategy_id: 3,
      status: 'draft',
    },
    { name: 'Returns', coverage_percentage: 12.5, test_strategy_id: 3 },
  ),
  row(
    updateTestScenario,
    {
      scenario_id,
      name: 'Check-out',
      description: 'All of it',
      type: 'smoke',
      coverage_percentage: 80,
      status: 'ready',
    },
    { scenario_id, name: 'Check-out', coverage_percentage: 80, project_id },
  ),
  row(
    createTestStep,
    { test_case_id, name: 'Log out', description: '', expected_result: 'Gone', outcome: 'none', status: 'active' },
    { name: 'Log out', expected_result: 'Gone', step_order: 4 },
  ),
  row(deleteTestStep, { test_case_id, step_id: 2, hard_delete: true }, { step_id: 2 }),
  row(
    createDefect,
    { project_id, title: 'Crash', description: 'On start', type: 'functional', priority: 'low', severity: 'critical' },
    { title: 'Crash', description: 'On start', severity: 'critical' },
  ),
  row(listDefects, { project_id, page: 1, per_page: 3 }, [{ defect_id, title: 'Voucher is applied twice' }]),
  row(
    updateDefect,
    { defect_id, title: 'Voucher', description: 'Twice', type: 'logic', priority: 'low', severity: 'minor' },
    { defect_id, title: 'Voucher', description: 'Twice', type: 'logic', priority: 'low', severity: 'minor' },
  ),
  row(linkDefect, { defect_id, test_case_id, test_step_id: 1, task_id }, { test_case_id, test_step_id: 1, task_id }),
  row(reorderChecklistGroups, { work_item_type: 'task', work_item_id: task_id, group_ids: [13, 11, 12] }, [
    { group_id: 13, group_order: 1 },
    { group_id: 11, group_order: 2 },
    { group_id: 12, group_order: 3 },
  ]),
  row(completeChecklistItem, { item_id: 103, is_completed: true }, { item_id: 103, is_completed: true }),
];

/** A text in every payload that has a place for it. No error may contain it. */
export const canary = 'canary-4711';
const unknownId = '00000000-0000-4000-8000-000000000000';
const groups = (work_item_id: string, ...group_ids: number[]) => ({ work_item_type: 'task', work_item_id, group_ids });

const invalid = 'Validation failed';
const missing = 'is required';
const notManaged = 'Not allowed to manage this checklist';
const twoMissing = { project_id: missing, name: missing };
const everyGroupOnce = "group_ids must name each of the work item's groups once";
const tooLong = { hours: 'must be more than 0 and at most 24' };
const date = '2026-02-03';

type Refused = [
  status: number,
  message: string,
  operation: Operation,
  payload: object,
  errors?: Record<string, string>,
];

/** Calls that the service refuses because of their payload, with the expected errors by field. */
export const refused: readonly Refused[] = [
  [400, invalid, createTestScenario, {}, twoMissing],
  [400, 'Invalid reference: project_id', createTestScenario, { project_id: unknownId, name: canary }],
  [400, 'Invalid reference: test_case_id', createTestStep, { test_case_id: unknownId, name: canary }],
  [400, invalid, createDefect, { project_id, title: ' ' }, { title: 'must be a string that is not empty' }],
  [400, 'Invalid reference: task_id', linkDefect, { defect_id, task_id: canary }],
  [403, notManaged, completeChecklistItem, { item_id: 201, is_completed: true }],
  [404, 'Test scenario not found', updateTestScenario, { scenario_id: unknownId, name: canary }],
  [404, 'Test step not found', deleteTestStep, { test_case_id, step_id: canary }],
  [404, 'Defect not found', updateDefect, { defect_id: unknownId, title: canary }],
  [404, 'Work item not found', reorderChecklistGroups, groups(canary, 21)],
  [404, 'Checklist item not found', completeChecklistItem, { item_id: canary, is_completed: true }],
  [422, invalid, createProject, { description: canary }, { name: missing }],
  [422, 'Project not found', projectDetail, { project_id: unknownId }],
  [422, invalid, createTask, { project_id }, { title: missing }],
  [422, 'User not found', createTask, { project_id, title: canary, assigned_to: unknownId }],
  [422, 'Task not found', taskDetail, { task_id: canary }],
  [422, 'Time entry not found', timelogDetail, { timelog_id: canary }],
  [422, invalid, createTimelog, { task_id, user_id, date, hours: 25 }, tooLong],
  [422, everyGroupOnce, reorderChecklistGroups, groups(task_id, 11, 11, 12)],
];
