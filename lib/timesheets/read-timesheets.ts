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
  userId: string;
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
    ({ user_id, name, email }) => (email ? { userId: String(user_id), name: name ?? email, email } : undefined),
    USER_PAGES,
  );
  const people = users.kept.filter(({ email }) => teamOf(teams, team.connection, email) === team);
  const ids = new Set(people.map(({ userId }) => userId));
  const read = await steps.list(
    'list time entries',
    listTimelogs,
    { date_from: from, date_to: to, per_page: PAGE_SIZE },
    (record) => (ids.has(String(record.user_id)) ? keptOf(record) : undefined),
    ENTRY_PAGES,
  );
  if (!users.whole || !read.whole) {
    const list = users.whole ? `timelogs/list from ${from} to ${to}` : 'users/list';
    throw new Park(`${list} is longer than anybody can read within the budget: are its filters called otherwise here?`);
  }
  return people.map((person) => ({ ...person, ...sumOf(read.kept, person.userId, from, to) }));
}

/** What somebody logged, read anew for them alone. */
export async function readTimesheet(
  person: Omit<Timesheet, 'minutes' | 'unreadable' | 'tasks'>,
  { from, to }: { from: string; to: string },
  steps: Steps,
): Promise<Timesheet> {
  const { kept } = await steps.list(
    'list their time entries',
    listTimelogs,
    { user_id: person.userId, date_from: from, date_to: to, per_page: PAGE_SIZE },
    (record) => (String(record.user_id) === person.userId ? keptOf(record) : undefined),
    ENTRY_PAGES,
  );
  return { ...person, ...sumOf(kept, person.userId, from, to) };
}

interface Kept {
  id: string;
  userId: string;
  date?: string;
  minutes?: number;
  task?: Task;
  unreadable?: string;
}

function keptOf(record: Readonly<Record<string, unknown>>): Kept {
  const about = { id: String(record.timelog_id), userId: String(record.user_id) };
  const entry = readEntry(record);
  if ('unreadable' in entry) return { ...about, unreadable: entry.unreadable };
  const { date, minutes, taskId, taskName } = entry;
  const task = taskId !== undefined && { id: taskId, ...(taskName !== undefined && { name: taskName }) };
  return { ...about, date, minutes, ...(task && { task }) };
}

function sumOf(entries: readonly Kept[], userId: string, from: string, to: string) {
  const minutes: Record<string, number> = {};
  const unreadable: string[] = [];
  const tasks = new Map<string, Task>();
  // What is logged while the pages are read may show up on two of them.
  const theirs = new Map(entries.filter((entry) => entry.userId === userId).map((entry) => [entry.id, entry]));
  const newestFirst = [...theirs.values()].sort((a, b) => (b.date ?? '').localeCompare(a.date ?? ''));
  for (const entry of newestFirst) {
    if (entry.unreadable !== undefined) unreadable.push(entry.unreadable);
    if (entry.date === undefined || entry.date < from || entry.date > to) continue;
    minutes[entry.date] = (minutes[entry.date] ?? 0) + (entry.minutes ?? 0);
    if (entry.task && tasks.size < TASKS) tasks.set(entry.task.id, entry.task);
  }
  return { minutes, unreadable, tasks: [...tasks.values()] };
}
