import { randomUUID } from 'node:crypto';
import type { Task } from '../records.ts';
import { refuse } from '../refusal.ts';
import { find, type Store } from '../store.ts';
import { count, date, id, name, number, operation, paginate, text, uuid } from './operation.ts';
import { matches } from './projects.ts';

const changeable = {
  title: name,
  name: name,
  description: text,
  status: text,
  priority: text,
  assigned_to: id,
  due_date: date,
  estimated_hours: number,
} as const;

export const tasks = [
  operation({
    path: '/tasks/list',
    evidence: 'fields assumed',
    scope: 'tasks.read',
    required: { project_id: uuid },
    optional: { status: text, assigned_to: id, page: count, per_page: count },
    run({ project_id, status, assigned_to, ...pages }, { data }) {
      const found = data.tasks.filter(
        (task) =>
          task.project_id === project_id &&
          (status === undefined || task.status === status) &&
          (assigned_to === undefined || task.assigned_to === assigned_to),
      );
      return paginate(found, pages);
    },
  }),
  operation({
    path: '/tasks/create',
    evidence: 'fields assumed',
    scope: 'tasks.write',
    // The table gives 201 to other creating operations and 200 to this one.
    required: { project_id: uuid },
    optional: changeable,
    rule: ({ title, name }) => (title === undefined && name === undefined ? ['title', 'is required'] : null),
    run({ project_id, title, name, ...payload }, store, stamp, actorId) {
      if (!find(store.data.projects, 'project_id', project_id)) refuse(422, 'Project not found');
      const task: Task = {
        task_id: randomUUID(),
        project_id,
        ...titled(title ?? name ?? ''),
        description: '',
        status: 'open',
        priority: 'medium',
        due_date: null,
        estimated_hours: null,
        ...payload,
        assigned_to: assignee(store, payload.assigned_to),
        created_by: actorId,
        dt_created: stamp,
        dt_updated: stamp,
      };
      return { data: store.put('tasks', task) };
    },
  }),
  operation({
    path: '/tasks/detail',
    evidence: 'fields assumed',
    scope: 'tasks.read',
    required: { task_id: id },
    run: ({ task_id }, store) => ({ data: existing(store, task_id) }),
  }),
  operation({
    path: '/tasks/update',
    evidence: 'fields assumed',
    scope: 'tasks.write',
    required: { task_id: id },
    optional: changeable,
    run({ task_id, title, name, assigned_to, ...changes }, store, stamp) {
      const before = existing(store, task_id);
      const task = {
        ...before,
        ...titled(title ?? name ?? before.title),
        assigned_to: assigned_to === undefined ? before.assigned_to : assignee(store, assigned_to),
        ...changes,
        dt_updated: stamp,
      };
      return { data: store.put('tasks', task) };
    },
  }),
  operation({
    path: '/tasks/search',
    evidence: 'fields assumed',
    scope: 'tasks.read',
    required: { q: text },
    optional: { project_id: uuid, page: count, per_page: count },
    run({ q, project_id, ...pages }, { data }) {
      const found = data.tasks.filter(
        (task) =>
          (project_id === undefined || task.project_id === project_id) && matches(q, task.title, task.description),
      );
      return paginate(found, pages);
    },
  }),
];

function titled(title: string): { title: string; name: string } {
  return { title, name: title };
}

function assignee({ data }: Store, user_id: string | number | undefined): string | null {
  if (user_id === undefined) return null;
  return find(data.users, 'user_id', user_id)?.user_id ?? refuse(422, 'User not found');
}

function existing({ data }: Store, task_id: string | number): Task {
  return find(data.tasks, 'task_id', task_id) ?? refuse(422, 'Task not found');
}
