import { Park } from '../jobs/interruption.ts';
import type { Steps } from '../jobs/steps.ts';
import { listTimelogs } from '../partner/timelogs.ts';
import { listUsers } from '../partner/users.ts';
import type { Team } from './config.ts';
import type { MinutesByDate } from './shortfall.ts';
import { teamOf } from './team.ts';
import { readEntry } from './time-entry.ts';

/** Somebody of a team, and what they logged. */
export interface Timesheet {
  userId: string | number;
  name: string;
  email: string;
  minutes: MinutesByDate;
  /** Why entries of theirs could not be read; what they logged is not known then. */
  unreadable: string[];
  /** The tasks that they logged time on last, the newest first; their names where the entries have them. */
  tasks: Task[];
}

interface Task {
  id: string;
  name?: string;
}

const PAGE_SIZE = 100;
const USER_PAGES = 50;
const ENTRY_PAGES = 200;
const TASKS = 5;

/**
 * The timesheets of a team over some days, both included: all of its people and all their entries, page by page rather
 * than person by person. Everything of it is journalled.
 */
export async function readTimesheets(
  teams: readonly Team[],
  team: Team,
  { from, to }: { from: string; to: string },
  steps: Steps,
): Promise<Timesheet[]> {
  const users = await steps.list(
    'list users',
    listUsers,
    { per_page: PAGE_SIZE },
    ({ user_id, name, email }) => (email ? { userId: user_id, name: name ?? email, email } : undefined),
    USER_PAGES,
  );
  if (users.kept.length === 0)
    throw new Park('users/list has nobody with an email: is that field called otherwise here?');
  // Whoever joins while the pages are read may push somebody onto the next.
  const byId = new Map(users.kept.map((user) => [String(user.userId), user]));
  const people = [...byId.values()].filter(({ email }) => teamOf(teams, team.connection, email) === team);
  const ids = new Set(people.map(({ userId }) => String(userId)));
  const read = await steps.list(
    'list time entries',
    listTimelogs,
    { date_from: from, date_to: to, per_page: PAGE_SIZE },
    (record) => (ids.has(userIdOf(record)) ? keptOf(record) : undefined),
    ENTRY_PAGES,
  );
  if (!users.whole) throw unfinished('users/list');
  if (!read.whole) throw unfinished(`timelogs/list from ${from} to ${to}`);
  return people.map((person) => ({ ...person, ...sumOf(read.kept, person.userId, from, to) }));
}

/**
 * What somebody logged, read anew for them alone.
 *
 * @param reading tells this reading from earlier ones, which are journalled too
 */
export async function readTimesheet(
  person: Omit<Timesheet, 'minutes' | 'unreadable' | 'tasks'>,
  { from, to }: { from: string; to: string },
  reading: number,
  steps: Steps,
): Promise<Timesheet> {
  const { kept, whole } = await steps.list(
    `list their time entries, reading ${reading}, page`,
    listTimelogs,
    { user_id: person.userId, date_from: from, date_to: to, per_page: PAGE_SIZE },
    (record) => (userIdOf(record) === String(person.userId) ? keptOf(record) : undefined),
    ENTRY_PAGES,
  );
  if (!whole) throw unfinished('timelogs/list of one user');
  return { ...person, ...sumOf(kept, person.userId, from, to) };
}

function unfinished(list: string): Park {
  return new Park(`${list} could not be read to its end: are page and the filters called otherwise here?`);
}

/**
 * Whose entry it is.
 * @throws {Park} where there is no such field, for then nobody's hours are known
 */
function userIdOf({ user_id }: Readonly<Record<string, unknown>>): string {
  if (user_id !== undefined) return String(user_id);
  throw new Park('timelogs/list has entries without user_id: is that field called otherwise here?');
}

interface Kept {
  id?: string;
  userId: string;
  date?: string;
  minutes?: number;
  task?: Task;
  unreadable?: string;
}

function keptOf(record: Readonly<Record<string, unknown>>): Kept {
  const { timelog_id } = record;
  const about = { userId: userIdOf(record), ...(timelog_id != null && { id: String(timelog_id) }) };
  const entry = readEntry(record);
  if ('unreadable' in entry) return { ...about, ...entry };
  const { date, minutes, taskId, taskName } = entry;
  const task = taskId !== undefined && { id: taskId, ...(taskName !== undefined && { name: taskName }) };
  return { ...about, date, minutes, ...(task && { task }) };
}

function sumOf(entries: readonly Kept[], userId: string | number, from: string, to: string) {
  const minutes: Record<string, number> = {};
  const unreadable: string[] = [];
  const tasks = new Map<string, Task>();
  const all = entries.filter((entry) => entry.userId === String(userId));
  // What is logged while the pages are read may show up on two of them.
  const theirs = new Map(all.map((entry, index) => [entry.id ?? index, entry]));
  const newestFirst = [...theirs.values()].sort((a, b) => (b.date ?? '').localeCompare(a.date ?? ''));
  for (const entry of newestFirst) {
    if (entry.date !== undefined && (entry.date < from || entry.date > to)) continue;
    if (entry.unreadable !== undefined) unreadable.push(entry.unreadable);
    if (entry.date === undefined || entry.minutes === undefined) continue;
    minutes[entry.date] = (minutes[entry.date] ?? 0) + entry.minutes;
    if (entry.task && tasks.size < TASKS) tasks.set(entry.task.id, entry.task);
  }
  return { minutes, unreadable, tasks: [...tasks.values()] };
}
