import type { Stores } from '../runtime.ts';
import { expiry } from '../state/table/expiry.ts';
import { keys } from '../state/table/keys.ts';
import type { Timesheet } from './read-timesheets.ts';

type Tasks = Timesheet['tasks'];

/**
 * Remembers the tasks of a person's timesheet, for a week in which they have not logged any time yet.
 *
 * @returns the tasks, or those of the earlier timesheet if there are none
 */
export async function tasksOrEarlier(
  tasks: Tasks,
  connection: string,
  userId: string | number,
  { table, clock }: Pick<Stores, 'table' | 'clock'>,
): Promise<Tasks> {
  const key = keys.recentTasks(connection, String(userId));
  if (tasks.length === 0) return ((await table.get(key))?.tasks ?? []) as Tasks;
  await table.put({ ...key, tasks, expiresAt: expiry(clock()) });
  return tasks;
}
