import type { JobSteps } from '../../engine/run/job-steps.ts';
import { taskDetail, taskName } from '../../service/partner/operations/tasks.ts';
import { keys } from '../../state/table/keys.ts';
import { remembered } from '../../state/table/remembered.ts';
import type { Context } from '../context.ts';

const FOUND_FOR_MS = 24 * 3_600_000;
/** A person may create the task once they read that there is none. */
const NOT_FOUND_FOR_MS = 10 * 60_000;

/**
 * Whether a task exists, as far as the key of the connection can see. One call for an id without a recent answer.
 *
 * @param isAfresh true to ask again for a task that was not found
 */
export async function taskExists(
  id: string,
  connection: string,
  isAfresh: boolean,
  steps: JobSteps,
  { table, clock }: Pick<Context, 'table' | 'clock'>,
): Promise<boolean> {
  const { found } = await remembered({
    table,
    clock,
    key: keys.checkedTask(connection, id),
    keptForMs: ({ found }) => (found ? FOUND_FOR_MS : NOT_FOUND_FOR_MS),
    fits: ({ found }) => found || !isAfresh,
    read: async () => ({ found: await ask(id, steps) }),
  });
  return found;
}

/** The payload of the operation is not shown; that the id goes into `task_id` is assumed (docs/partner-api.md#operations). */
async function ask(id: string, steps: JobSteps): Promise<boolean> {
  const task_id = await steps.idFrom(taskDetail, 'task_id', id);
  return steps.call(
    `task ${id}`,
    taskDetail,
    { task_id },
    // A service that calls the identifier otherwise may answer with any task.
    (task) => String(taskName(task)?.id).toLowerCase() === id.toLowerCase(),
    (refused) => {
      if (refused.refusal.status === 403) throw refused;
      return false;
    },
  );
}
