import type { JobSteps } from '../engine/run/job-steps.ts';
import type { Stores } from '../runtime.ts';
import { taskDetail } from '../service/partner/operations/tasks.ts';
import { keys } from '../state/table/keys.ts';
import { remembered } from '../state/table/remembered.ts';

/** A key may get its scope, and a task its name, at any time. People in one team often have the same tasks. */
const UNNAMED_FOR_MS = 3_600_000;
const NAMED_FOR_MS = 30 * 86_400_000;

/**
 * The name of a task, for a time entry that has only its id. It is read once a month.
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
