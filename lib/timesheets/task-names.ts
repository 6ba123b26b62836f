import type { JobSteps } from '../engine/run/job-steps.ts';
import type { Stores } from '../runtime.ts';
import { taskDetail, taskName } from '../service/partner/operations/tasks.ts';
import { keys } from '../state/table/keys.ts';
import { remembered } from '../state/table/remembered.ts';

/**
 * Short, because a key may get a scope, and a task a name, at any time. People of one team often have the same tasks.
 */
const UNNAMED_FOR_MS = 3_600_000;
const NAMED_FOR_MS = 30 * 86_400_000;

/**
 * Returns a task's name, for a time entry that has only its id. Read once a month.
 *
 * @returns the id if the service does not return the task
 */
export async function taskNameOf(
  id: string,
  connection: string,
  steps: JobSteps,
  { table, clock }: Pick<Stores, 'table' | 'clock'>,
): Promise<string> {
  const { name } = await remembered({
    table,
    clock,
    key: keys.taskName(connection, id),
    keptForMs: ({ name }) => (name === id ? UNNAMED_FOR_MS : NAMED_FOR_MS),
    read: async () => ({ name: await ask(id, steps) }),
  });
  return name;
}

async function ask(id: string, steps: JobSteps): Promise<string> {
  const task_id = await steps.idFrom(taskDetail, 'task_id', id);
  return steps.call(
    `name of ${id}`,
    taskDetail,
    { task_id },
    ({ name, title }) => name ?? title ?? id,
    () => id,
  );
}

export interface Task {
  id: string | number;
  name: string;
}

/**
 * Looks up a task. Assumed: the id is sent as `task_id`, because the operation's payload is not shown
 * (docs/partner-api.md#operations).
 *
 * @returns null if the key sees no task with that id
 */
export async function taskById(step: string, text: string, steps: JobSteps): Promise<Task | null> {
  const payload = { task_id: await steps.idFrom(taskDetail, 'task_id', text) };
  // A service with another name for the identifier may return any task.
  const keep = (task: Parameters<typeof taskName>[0]) => {
    const named = taskName(task);
    return named && String(named.id).toLowerCase() === text.toLowerCase() ? named : null;
  };
  return steps.call(step, taskDetail, payload, keep, (refused) => {
    // The other statuses are not documented: some may mean "unknown", and some "not an id".
    if (refused.refusal.status === 403) throw refused;
    return null;
  });
}
