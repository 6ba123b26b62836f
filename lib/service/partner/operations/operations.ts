import type * as z from 'zod';
import type { Operation } from '../operation.ts';
import { validate } from '../operation.ts';
import { createDefect, linkDefect, listDefects, updateDefect } from './defects.ts';
import { createProject, listProjects, projectDetail, searchProjects, updateProject } from './projects.ts';
import { createTask, listTasks, searchTasks, taskDetail, updateTask } from './tasks.ts';
import { createTestScenario, createTestStep, deleteTestStep, updateTestScenario } from './test-scenarios.ts';
import { createTimelog, listTimelogs, searchTimelogs, timelogDetail } from './timelogs.ts';
import { listUsers } from './users.ts';
import { completeChecklistItem, reorderChecklistGroups } from './work-item-checklists.ts';

const all = [
  validate,
  listProjects,
  createProject,
  projectDetail,
  updateProject,
  searchProjects,
  listTasks,
  createTask,
  taskDetail,
  updateTask,
  searchTasks,
  listTimelogs,
  searchTimelogs,
  timelogDetail,
  createTimelog,
  listUsers,
  createTestScenario,
  updateTestScenario,
  createTestStep,
  deleteTestStep,
  createDefect,
  listDefects,
  updateDefect,
  linkDefect,
  reorderChecklistGroups,
  completeChecklistItem,
] as const satisfies readonly Operation[];

/** Each declared operation, by its name. */
export type Declared = { [O in (typeof all)[number] as O['name']]: O };

/** The payload of each declared operation, by its name. */
export type Payloads = { [N in keyof Declared]: z.input<Declared[N]['payload']> };

/** All declared operations by name: the 22 of known shape, and the assumed ones that the automations need. */
export const operations: ReadonlyMap<string, Operation> = new Map(all.map((declared) => [declared.name, declared]));
