import type { Steps } from '../jobs/steps.ts';
import { idFromText } from '../partner/operation.ts';
import { taskDetail } from '../partner/tasks.ts';
import { expiry, isExpired } from '../table/expiry.ts';
import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

/** A key may get its scope, and a task its name, at any time; people in one team have the same tasks. */
const UNNAMED_FOR_SECONDS = 3_600;

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
      const now = clock();
      const expiresAt = name === null ? Math.floor(now / 1000) + UNNAMED_FOR_SECONDS : expiry(now);
      await table.put({ ...key, name: name ?? id, expiresAt });
      return name ?? id;
    },
  };
}

/** @returns null where the service does not tell */
function ask(id: string, steps: Steps): Promise<string | null> {
  const payload = { task_id: idFromText(id) };
  return steps.call(
    `name of ${id}`,
    taskDetail,
    payload,
    ({ name, title }) => name ?? title ?? null,
    () => null,
  );
}
