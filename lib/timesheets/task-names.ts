import type { Steps } from '../engine/run/steps.ts';
import { idFromText } from '../service/partner/operation.ts';
import { taskDetail } from '../service/partner/operations/tasks.ts';
import { keys } from '../state/table/keys.ts';
import { remembered } from '../state/table/remembered.ts';
import type { Table } from '../state/table/table.ts';

/** A key may get its scope, and a task its name, at any time. People in one team often have the same tasks. */
const UNNAMED_FOR_MS = 3_600_000;
const NAMED_FOR_MS = 30 * 86_400_000;

/** Looks up task names for time entries that have only the task's id. Names are read once a month. */
export interface TaskNames {
  /** @returns the name, or the id if the service does not return the task */
  nameOf(id: string, connection: string, steps: Steps): Promise<string>;
}

export function createTaskNames(table: Table, clock: () => number): TaskNames {
  return {
    async nameOf(id, connection, steps) {
      const { name } = await remembered({
        table,
        clock,
        key: keys.taskName(connection, id),
        keptForMs: ({ name }) => (name === id ? UNNAMED_FOR_MS : NAMED_FOR_MS),
        read: async () => ({ name: (await ask(id, steps)) ?? id }),
      });
      return name;
    },
  };
}

/** @returns null if the service does not return the task */
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
