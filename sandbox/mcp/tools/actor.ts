import type { Payload, Result } from '../../operations/operation.ts';
import type { ChecklistItem, Project, Task } from '../../records.ts';
import { refuse } from '../../refusal.ts';
import { operations } from '../../routes.ts';
import { find, type Store } from '../../store.ts';
import type { Caller } from '../request.ts';
import { sees } from '../workspaces.ts';

/** A caller at work on the records. It sees what the person may see, and is the author of its changes. */
export class Actor {
  readonly caller: Caller;
  readonly store: Store;
  readonly #nowMs: number;

  constructor(caller: Caller, store: Store, nowMs: number) {
    this.caller = caller;
    this.store = store;
    this.#nowMs = nowMs;
  }

  /** YYYY-MM-DD, in UTC. */
  get today(): string {
    return new Date(this.#nowMs).toISOString().slice(0, 10);
  }

  /** Runs an operation of the partner API as this person. */
  carryOut(path: string, payload: Payload): Result['data'] {
    const operation = operations.find((candidate) => candidate.path === path);
    if (operation === undefined) throw new Error(`there is no operation ${path}`);
    const stamp = new Date(this.#nowMs).toISOString().slice(0, 19).replace('T', ' ');
    const sent = Object.entries(payload).filter(([, value]) => value !== undefined);
    const valid = operation.validate(Object.fromEntries(sent));
    return operation.run(valid, this.store, stamp, this.caller.user_id).data;
  }

  projects(): Project[] {
    const { workspace, user_id } = this.caller;
    return this.store.data.projects.filter((project) => sees(workspace, user_id, project));
  }

  /** Returns a project. One that the person cannot see counts as unknown. */
  project(project_id: string): Project {
    return find(this.projects(), 'project_id', project_id) ?? refuse(404, 'Project not found');
  }

  task(task_id: string): Task {
    return this.#visible(find(this.store.data.tasks, 'task_id', task_id)) ?? refuse(404, 'Task not found');
  }

  /** An item of a visible task. */
  checklistItem(item_id: number): ChecklistItem {
    const { checklistItems, checklistGroups, tasks } = this.store.data;
    const item = find(checklistItems, 'item_id', item_id);
    const group = item && find(checklistGroups, 'group_id', item.group_id);
    const task = group && this.#visible(find(tasks, 'task_id', group.work_item_id));
    return (task && item) ?? refuse(404, 'Checklist item not found');
  }

  /** The records of visible projects. */
  visible<T extends { project_id: string }>(records: readonly T[]): T[] {
    const projects = new Set(this.projects().map(({ project_id }) => project_id));
    return records.filter(({ project_id }) => projects.has(project_id));
  }

  #visible<T extends { project_id: string }>(record: T | undefined): T | undefined {
    return record && this.visible([record])[0];
  }
}
