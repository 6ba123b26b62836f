import type { Steps } from '../jobs/steps.ts';
import { idFromText } from '../partner/operation.ts';
import { taskDetail } from '../partner/tasks.ts';
import { keys } from '../table/keys.ts';
import { remembered } from '../table/remembered.ts';
import type { Table } from '../table/table.ts';

/** A key may get its scope, and a task its name, at any time; people in one team have the same tasks. */
const UNNAMED_FOR_MS = 3_600_000;
const NAMED_FOR_MS = 30 * 86_400_000;

/** What tasks are called, where a time entry has their id only. Names are asked for once a month. */
export interface TaskNames {
  /** @returns the name, or the id of a task that the service does not tell */
  nameOf(id: string, connection: string, steps: Steps): Promise<string>;
}

export function createTaskNames(table: Table, clock: () => number): TaskNames {
  return {
    async nameOf(id, connection, steps) {
      const { name } = await remembered({
        ...{ table, clock, key: keys.taskName(connection, id) },
        keptForMs: ({ name }) => (name === id ? UNNAMED_FOR_MS : NAMED_FOR_MS),
        read: async () => ({ name: (await ask(id, steps)) ?? id }),
      });
      return name;
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
