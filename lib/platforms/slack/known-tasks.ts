import * as z from 'zod/mini';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import { cutToLength } from '../../text.ts';

const knownTask = z.object({ id: z.string(), name: z.string() });

export type KnownTask = z.output<typeof knownTask>;

const knownTasks = z.array(knownTask);

/** The tasks of a connection that jobs have seen, for a list that cannot wait for the service. */
export type KnownTasks = ReturnType<typeof createKnownTasks>;

/** An item holds 400 KB; these take 200 KB at most, and are read whenever a person types into the list. */
const MOST_TASKS = 500;
const MAX_NAME_LENGTH = 75;
const MAX_ID_LENGTH = 100;

export function createKnownTasks(table: Table) {
  async function get(connection: string): Promise<readonly KnownTask[]> {
    const item = await table.get(keys.knownTasks(connection));
    // A damaged list must not stop the jobs that learn from it. It starts empty again.
    return knownTasks.safeParse(item?.tasks).data ?? [];
  }

  return {
    /** The latest first. */
    get,
    /** Writes only if one of them is new or has another name. */
    async learn(connection: string, tasks: readonly { id: string | number; name: string }[]): Promise<void> {
      const seen = tasks
        .map(({ id, name }) => ({ id: String(id), name: cutToLength(name, MAX_NAME_LENGTH, '…') }))
        .filter(({ id }) => id.length <= MAX_ID_LENGTH);
      if (seen.length === 0) return;
      const known = await get(connection);
      const names = new Map(known.map(({ id, name }) => [id, name]));
      if (seen.every(({ id, name }) => names.get(id) === name)) return;
      // Two simultaneous jobs may overwrite what the other one learned. The next job learns it again.
      const all = new Map(
        [...seen, ...known.filter(({ id }) => !seen.some((one) => one.id === id))].map((task) => [task.id, task]),
      );
      await table.put({ ...keys.knownTasks(connection), tasks: [...all.values()].slice(0, MOST_TASKS) });
    },
  };
}
