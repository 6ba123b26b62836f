import { expiry } from '../table/expiry.ts';
import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import type { Timesheet } from './read-timesheets.ts';

type Tasks = Timesheet['tasks'];

/** The tasks that somebody logged time on last, for a week in which they have logged none yet. */
export interface RecentTasks {
  /** Keeps those of a timesheet. @returns them, or those that were kept before where the timesheet has none */
  orEarlier(connection: string, userId: string | number, tasks: Tasks): Promise<Tasks>;
}

export function createRecentTasks(table: Table, clock: () => number): RecentTasks {
  return {
    async orEarlier(connection, userId, tasks) {
      const key = keys.recentTasks(connection, String(userId));
      if (tasks.length > 0) {
        await table.put({ ...key, tasks, expiresAt: expiry(clock()) });
        return tasks;
      }
      const kept = await table.get(key);
      return kept ? (kept.tasks as Tasks) : [];
    },
  };
}
