import * as z from 'zod';
import { assumedText, id, openData, openRecord, operation, uuid } from './operation.ts';

/** A task is known by an id and a name, both assumed; some call the name a title. */
const task = z.looseObject({ task_id: id.nullish().catch(null), name: assumedText, title: assumedText });

/** What people know a task by, or undefined for a record without the assumed fields. */
export function taskName({
  task_id,
  name,
  title,
}: z.output<typeof task>): { id: string | number; name: string } | undefined {
  return task_id == null ? undefined : { id: task_id, name: name ?? title ?? String(task_id) };
}

/** `project_id` is shown; the optional filters are not. */
export const listTasks = operation({
  name: 'tasks/list',
  evidence: 'payload not shown',
  effect: 'read',
  success: 200,
  payload: z.looseObject({ project_id: uuid }),
  data: z.array(task),
});

/** Without a known text field there is no marker to find a task by. */
export const createTask = operation({
  name: 'tasks/create',
  evidence: 'payload not shown',
  effect: 'create',
  success: 200,
  payload: openRecord,
  data: openData,
});

/** The name of the identifier's field is not shown. */
export const taskDetail = operation({
  name: 'tasks/detail',
  evidence: 'payload not shown',
  effect: 'read',
  success: 200,
  payload: openRecord,
  data: task,
});

export const updateTask = operation({
  name: 'tasks/update',
  evidence: 'payload not shown',
  effect: 'repeatable',
  success: 200,
  payload: openRecord,
  data: openData,
});

/** Its fields are not shown; `q` and the pages are assumed, as of projects/search. */
export const searchTasks = operation({
  name: 'tasks/search',
  evidence: 'payload not shown',
  effect: 'read',
  success: 200,
  payload: openRecord,
  data: z.array(task),
});
