import type { JobSteps } from '../../engine/run/job-steps.ts';
import { keys } from '../../state/table/keys.ts';
import { remembered } from '../../state/table/remembered.ts';
import { taskById } from '../../timesheets/task-names.ts';
import type { Context } from '../context.ts';

const FOUND_FOR_MS = 24 * 3_600_000;
/** Short, because a person may create the task after reading that it does not exist. */
const NOT_FOUND_FOR_MS = 10 * 60_000;

/**
 * Returns true if the connection's key can see the task. Calls the service once for an id without a recent answer.
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
    // An earlier version stored this `found`.
    read: async () => ({ found: Boolean(await taskById(`task ${id}`, id, steps)) }),
  });
  return found;
}
