import type { Steps } from '../jobs/steps.ts';
import { idFromText } from '../partner/operation.ts';
import { taskDetail, taskName } from '../partner/tasks.ts';
import { expiry, isExpired } from '../table/expiry.ts';
import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

/** What tasks are called, where a time entry has their id only. Names are asked for once a month. */
export interface TaskNames {
  /** @returns the name, or the id of a task that the service does not tell */
  nameOf(id: string, connection: string, steps: Steps): Promise<string>;
}

export function createTaskNames(table: Table, clock: () => number): TaskNames {
  return {
    async nameOf(id, connection, steps) {
      const key = keys.taskName(connection, id);
      const known = await table.get(key);
      if (known && !isExpired(known, clock())) return String(known.name);
      const name = await ask(id, steps);
      await table.put({ ...key, name, expiresAt: expiry(clock()) });
      return name;
    },
  };
}

function ask(id: string, steps: Steps): Promise<string> {
  const payload = { task_id: idFromText(id) };
  return steps.call(
    `name of ${id}`,
    taskDetail,
    payload,
    (task) => taskName(task)?.name ?? id,
    () => id,
  );
}
