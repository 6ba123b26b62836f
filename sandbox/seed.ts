import type { ChecklistItem, Data, Task } from './records.ts';

const created = '2026-01-12 09:00:00';
const stamps = { dt_created: created, dt_updated: created };
const shop = '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01';
const app = '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c02';
const website = '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c03';

/** The user in `completed_by`. Assumed: a key belongs to this user, because the acting user is not shown. */
export const keyOwnerId = 'b0d3a1c4-52e7-4f86-8a19-3c6d9e0f2a01';
/** The workspace of all seed projects. */
export const firstWorkspaceId = '2b7d9f04-8e31-4c65-a0f2-9d4b6c1e7a01';
export const mira = 'b0d3a1c4-52e7-4f86-8a19-3c6d9e0f2a02';
export const tomasz = 'b0d3a1c4-52e7-4f86-8a19-3c6d9e0f2a03';
const aisha = 'b0d3a1c4-52e7-4f86-8a19-3c6d9e0f2a04';
const lucas = 'b0d3a1c4-52e7-4f86-8a19-3c6d9e0f2a05';

const checkout = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01';
const login = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e03';
const payByCard = 'e57a8c31-6d02-4b9f-a4c3-1b8e2f7d6a01';

/** A small workspace with fixed identifiers, for tests and examples. */
export function seed(): Data {
  return {
    projects: [
      project(shop, 'Web Shop', 'WS', 'The customer-facing shop', 640),
      project(app, 'Mobile App', 'MA', 'Orders and loyalty on the phone', 420),
      project(website, 'Company Website', 'CW', 'Relaunch of the public website', 160),
    ],
    tasks: [
      task(checkout, shop, 'Release checkout 2.4', 'in_progress', mira),
      task('d94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e02', shop, 'Show delivery dates in the cart', 'open', tomasz),
      task(login, app, 'Login with passkeys', 'in_progress', aisha),
      task('d94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e04', app, 'Push message on delivery', 'open', null),
      task('d94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e05', website, 'Write the accessibility statement', 'done', lucas),
    ],
    users: [
      { user_id: keyOwnerId, name: 'Integration User', email: 'integration@example.com' },
      { user_id: mira, name: 'Mira Novak', email: 'mira.novak@example.com' },
      { user_id: tomasz, name: 'Tomasz Zielinski', email: 'tomasz.zielinski@example.com' },
      { user_id: aisha, name: 'Aisha Rahman', email: 'aisha.rahman@example.com' },
      { user_id: lucas, name: 'Lucas Pereira', email: 'lucas.pereira@example.com' },
    ],
    timelogs: [
      timelog('01', shop, checkout, mira, '2026-01-12', 3.5, 'Payment provider sandbox'),
      timelog('02', shop, checkout, mira, '2026-01-13', 6, 'Card form'),
      timelog('03', app, login, aisha, '2026-01-13', 4.25, 'Passkey registration'),
    ],
    defects: [
      {
        defect_id: 'a1b7f4d2-8c36-4e95-b07d-5d2c9e6f3b01',
        project_id: shop,
        title: 'Voucher is applied twice',
        description: 'Going back from payment to the cart applies the voucher again.',
        type: 'functional',
        priority: 'high',
        severity: 'major',
        status: 'open',
        test_case_id: null,
        test_step_id: null,
        task_id: checkout,
        ...stamps,
      },
    ],
    testCases: [
      { test_case_id: payByCard, project_id: shop, name: 'Pay by card' },
      { test_case_id: 'e57a8c31-6d02-4b9f-a4c3-1b8e2f7d6a02', project_id: app, name: 'Sign in with a passkey' },
    ],
    testScenarios: [
      {
        scenario_id: 'f3c9d5e8-7a14-4d60-9b2f-2e8a1c6b4d01',
        project_id: shop,
        name: 'Checkout',
        description: 'From cart to confirmation',
        type: 'functional',
        coverage_percentage: 60,
        test_strategy_id: null,
        status: 'draft',
      },
    ],
    testSteps: [
      testStep(1, 'Put an article in the cart', 'The cart shows one article'),
      testStep(2, 'Enter card details', 'The form accepts the card'),
      testStep(3, 'Confirm', 'The confirmation page appears'),
    ],
    checklistTemplates: [
      { template_id: 1, name: 'Release', items: ['Changelog written', 'Migrations rehearsed', 'Pull request merged'] },
    ],
    checklistGroups: [
      group(11, checkout, 'Before the release', 1),
      group(12, checkout, 'Release', 2),
      group(13, checkout, 'After the release', 3),
      { ...group(21, login, 'Security review', 1), can_manage: false },
    ],
    checklistItems: [
      item(101, 11, 'Changelog written'),
      item(102, 11, 'Migrations rehearsed'),
      item(103, 12, 'Pull request merged'),
      item(104, 13, 'Dashboards watched for an hour'),
      item(201, 21, 'Threat model reviewed'),
    ],
    workspaces: [
      {
        workspace_id: firstWorkspaceId,
        name: 'Northwind Studio',
        mcp_enabled: false,
        mcp_scopes: [],
        members: [
          { user_id: mira, projects: null },
          { user_id: tomasz, projects: [shop] },
        ],
      },
      {
        workspace_id: '2b7d9f04-8e31-4c65-a0f2-9d4b6c1e7a02',
        name: 'Northwind Field Team',
        mcp_enabled: false,
        mcp_scopes: [],
        members: [
          { user_id: mira, projects: null },
          { user_id: tomasz, projects: [] },
        ],
      },
    ],
    oauthClients: [],
    grants: [],
    refreshTokens: [],
  };
}

function project(project_id: string, name: string, short_name: string, description: string, estimated_hours: number) {
  return {
    project_id,
    name,
    short_name,
    description,
    project_type: 'standard',
    status: 'active',
    isactive: true,
    start_date: '2026-01-12',
    end_date: '2026-12-18',
    estimated_hours,
    is_favourite: false,
    priority: 'medium',
    ...stamps,
  };
}

function task(task_id: string, project_id: string, title: string, status: string, assigned_to: string | null): Task {
  return {
    task_id,
    project_id,
    title,
    name: title,
    description: '',
    status,
    priority: 'medium',
    assigned_to,
    due_date: null,
    estimated_hours: null,
    ...stamps,
  };
}

function timelog(
  number: string,
  project_id: string,
  task_id: string,
  user_id: string,
  date: string,
  hours: number,
  note: string,
) {
  return {
    timelog_id: `c2e8a6f1-9d47-4b03-8f5e-6a1d4c7b9e${number}`,
    project_id,
    task_id,
    user_id,
    date,
    hours,
    note,
    description: note,
    dt_created: created,
  };
}

function testStep(step_id: number, name: string, expected_result: string) {
  return {
    step_id,
    test_case_id: payByCard,
    name,
    description: '',
    expected_result,
    outcome: '',
    status: 'active',
    step_order: step_id,
  };
}

function group(group_id: number, work_item_id: string, name: string, group_order: number) {
  return { group_id, work_item_type: 'task', work_item_id, name, group_order, can_manage: true };
}

function item(item_id: number, group_id: number, name: string): ChecklistItem {
  return { item_id, group_id, name, is_completed: false, completed_by: null, completed_at: null };
}
