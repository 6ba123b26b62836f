import { expiry } from '../state/table/expiry.ts';
import { keys } from '../state/table/keys.ts';
import type { Table } from '../state/table/table.ts';
import type { Timesheet } from './read-timesheets.ts';

type Tasks = Timesheet['tasks'];

/** Remembers a person's latest tasks, for a week in which they have not logged any time yet. */
export interface RecentTasks {
  /** Stores a timesheet's tasks. @returns them, or the previously stored tasks if the timesheet has none */
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
