import type { Grant, OAuthClient, RefreshToken, Workspace } from './mcp/records.ts';

/**
 * The service's records. A project is as in docs/partner-api.md#project. For the others, the document shows only the
 * field names in payloads. Assumed: their other fields, and all types of identifiers except project_id (UUID) and
 * group_id (integer).
 */
export interface Project {
  project_id: string;
  name: string;
  short_name: string;
  description: string;
  project_type: string;
  status: string;
  isactive: boolean;
  start_date: string | null;
  end_date: string | null;
  estimated_hours: number | null;
  is_favourite: boolean;
  /** Sent on creation, but not returned. */
  priority: string;
  /** Not returned either (assumed). */
  created_by?: string;
  dt_created: string;
  dt_updated: string;
}

/** The document shows neither `title` nor `name` of a task, so either is accepted, and both are returned. */
export interface Task {
  task_id: string;
  project_id: string;
  title: string;
  name: string;
  description: string;
  status: string;
  priority: string;
  assigned_to: string | null;
  due_date: string | null;
  estimated_hours: number | null;
  /** The person behind a tool call; the key's user for the partner API. Seed records have none. */
  created_by?: string;
  dt_created: string;
  dt_updated: string;
}

export interface User {
  user_id: string;
  name: string;
  email: string;
}

/** Either `note` or `description` is accepted, and both are returned, like a task's title. */
export interface Timelog {
  timelog_id: string;
  project_id: string;
  task_id: string;
  user_id: string;
  date: string;
  hours: number;
  note: string;
  description: string;
  dt_created: string;
}

export interface Defect {
  defect_id: string;
  project_id: string;
  title: string;
  description: string;
  type: string;
  priority: string;
  severity: string;
  status: string;
  test_case_id: string | null;
  test_step_id: number | null;
  task_id: string | null;
  /** See {@link Task}. */
  created_by?: string;
  dt_created: string;
  dt_updated: string;
}

export interface TestCase {
  test_case_id: string;
  project_id: string;
  name: string;
}

export interface TestScenario {
  scenario_id: string;
  project_id: string;
  name: string;
  description: string;
  type: string;
  coverage_percentage: number;
  test_strategy_id: string | number | null;
  status: string;
}

export interface TestStep {
  step_id: number;
  test_case_id: string;
  name: string;
  description: string;
  expected_result: string;
  outcome: string;
  status: string;
  step_order: number;
}

export interface ChecklistTemplate {
  template_id: number;
  name: string;
  items: string[];
}

export interface ChecklistGroup {
  group_id: number;
  work_item_type: string;
  work_item_id: string;
  name: string;
  group_order: number;
  /** If false, the checklist operations answer 403, "not allowed to manage". */
  can_manage: boolean;
}

export interface ChecklistItem {
  item_id: number;
  group_id: number;
  name: string;
  is_completed: boolean;
  completed_by: string | null;
  completed_at: string | null;
}

export interface Data {
  projects: Project[];
  tasks: Task[];
  users: User[];
  timelogs: Timelog[];
  defects: Defect[];
  testCases: TestCase[];
  testScenarios: TestScenario[];
  testSteps: TestStep[];
  checklistTemplates: ChecklistTemplate[];
  checklistGroups: ChecklistGroup[];
  checklistItems: ChecklistItem[];
  workspaces: Workspace[];
  oauthClients: OAuthClient[];
  grants: Grant[];
  refreshTokens: RefreshToken[];
}

export const idFields = {
  projects: 'project_id',
  tasks: 'task_id',
  users: 'user_id',
  timelogs: 'timelog_id',
  defects: 'defect_id',
  testCases: 'test_case_id',
  testScenarios: 'scenario_id',
  testSteps: 'step_id',
  checklistTemplates: 'template_id',
  checklistGroups: 'group_id',
  checklistItems: 'item_id',
  workspaces: 'workspace_id',
  oauthClients: 'client_id',
  grants: 'grant_id',
  refreshTokens: 'hash',
} as const satisfies { [C in keyof Data]: keyof Data[C][number] };
