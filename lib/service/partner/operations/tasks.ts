import * as z from 'zod';
import { assumedText, changes, creates, id, lists, notShown, operation, reads, untyped, uuid } from '../operation.ts';

/** The id and name fields are assumed. Some instances call the name a title. */
const task = z.looseObject({ task_id: id.nullish().catch(null), name: assumedText, title: assumedText });

/** Returns the task's id and name, or undefined for a record without the assumed fields. */
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
  ...lists,
  payload: z.looseObject({ project_id: uuid }),
  data: z.array(task),
});

/**
 * The fields are not shown; the fields that the relay uses are assumed. No known text field could contain a marker, so
 * a created task cannot be found again.
 */
export const createTask = operation({
  name: 'tasks/create',
  ...notShown,
  ...creates,
  success: 200,
  payload: z.looseObject({ project_id: untyped, name: untyped, description: untyped }),
  data: task,
  createdId: 'task_id',
  detail: 'tasks/detail',
});

/** The name of the identifier's field is not shown. */
export const taskDetail = operation({ name: 'tasks/detail', ...notShown, ...reads, data: task });

export const updateTask = operation({ name: 'tasks/update', ...notShown, ...changes });

/** Its fields are not shown. `q` and paging are assumed, by analogy with projects/search. */
export const searchTasks = operation({ name: 'tasks/search', ...notShown, ...lists, data: z.array(task) });
