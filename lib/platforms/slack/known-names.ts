import * as z from 'zod/mini';
import { type Key, keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import { cutToLength } from '../../text.ts';

const knownName = z.object({ id: z.string(), name: z.string() });

export type KnownName = z.output<typeof knownName>;
type Met = { id: string | number; name: string };

const knownNames = z.array(knownName);

export type KnownNames = ReturnType<typeof createKnownNames>;

/** Limits the item to 200 KB of the allowed 400 KB. It is read on each input in the list. */
const MOST_NAMES = 500;
const MAX_NAME_LENGTH = 75;
const MAX_ID_LENGTH = 100;

/** The tasks of a connection that jobs have seen. They name tasks, and fill lists that cannot wait for the service. */
export const createKnownTasks = (table: Table) => createKnownNames(table, keys.knownTasks);

/** People whose users of the service are known from jobs, by Slack user id or by GitHub login with `@`. */
export const createKnownPeople = (table: Table) => createKnownNames(table, keys.knownPeople);

function createKnownNames(table: Table, keyOf: (connection: string) => Key) {
  async function get(connection: string): Promise<readonly KnownName[]> {
    const item = await table.get(keyOf(connection));
    // A damaged list must not stop jobs, so it starts empty again.
    return knownNames.safeParse(item?.names).data ?? [];
  }

  return {
    /** Returns the latest names first. */
    get,
    /**
     * Adds names. Writes only if a name is new or has changed.
     * @param last the names as the job read them; a name that an outdated list overwrites is added again by a later job
     */
    async learn(connection: string, met: readonly Met[], last?: readonly KnownName[]): Promise<void> {
      const seen = met
        .map(({ id, name }) => ({ id: String(id), name: cutToLength(name, MAX_NAME_LENGTH, '…') }))
        .filter(({ id }) => id.length <= MAX_ID_LENGTH);
      if (seen.length === 0) return;
      const known = last ?? (await get(connection));
      const names = new Map(known.map(({ id, name }) => [id, name]));
      if (seen.every(({ id, name }) => names.get(id) === name)) return;
      const all = new Map(
        [...seen, ...known.filter(({ id }) => !seen.some((one) => one.id === id))].map((one) => [one.id, one]),
      );
      await table.put({ ...keyOf(connection), names: [...all.values()].slice(0, MOST_NAMES) });
    },
  };
}
