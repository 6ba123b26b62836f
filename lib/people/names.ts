import type { ShowJob } from '../engine/operate/find-jobs.ts';
import { createKnownPeople, createKnownTasks } from '../platforms/slack/known-names.ts';
import type { Stores } from '../runtime.ts';
import type { Table } from '../state/table/table.ts';

type TableOfNames = Pick<Stores, 'table' | 'clock'>;

/** Names change rarely, and a console shows jobs every second. */
const KEPT_MS = 60_000;
/** The person's name in front of a summary. */
const ASKER = /^(?:@[\w-]+|[UW][A-Z0-9]{6,})(?=: )/;
/** An id of the service. Shorter ones could be numbers or words. */
const ID = /[\w-]{20,}/g;

/** Returns the form of a GitHub login under which its name is kept. Logins ignore upper and lower case. */
export const loginOf = (login: string) => `@${login.toLowerCase()}`;

type Names = ReadonlyMap<string, string>;

const kept = new WeakMap<Table, Map<string, { readAt: number; names: Promise<Names> }>>();

/** Returns the names that the table knows on a connection, by id. Without rights to read them, it returns none. */
function namesOf(connection: string, { table, clock }: TableOfNames): Promise<Names> {
  const known = kept.get(table) ?? new Map();
  const last = known.get(connection);
  if (last && clock() - last.readAt < KEPT_MS) return last.names;
  const lists = [createKnownTasks(table), createKnownPeople(table)].map((names) => names.get(connection));
  const named = Promise.all(lists).catch(() => []);
  const names = named.then((all) => new Map(all.flat().map(({ id, name }) => [id, name])));
  kept.set(table, known.set(connection, { readAt: clock(), names }));
  return names;
}

/** Replaces the ids of people and tasks in jobs with their names, as far as the table knows them. */
export function createShowJob(stores: TableOfNames): ShowJob {
  return async (job) => {
    const { summary, title, cause, asked, connection } = job;
    const names = await namesOf(connection, stores);
    const nameOf = (id: string) => names.get(id) ?? names.get(loginOf(id.replace(/^@/, ''))) ?? asked?.byName ?? id;
    const who = title === undefined ? undefined : (ASKER.exec(summary)?.[0] ?? '');
    const event = who ? `${who}: ${title}` : (title ?? summary);
    return {
      ...job,
      summary: event.replace(ASKER, nameOf).replaceAll(ID, (id) => names.get(id) ?? id),
      ...(cause?.person !== undefined && { cause: { ...cause, person: nameOf(cause.person) } }),
    };
  };
}
