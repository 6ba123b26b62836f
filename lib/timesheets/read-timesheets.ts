import type * as z from 'zod';
import type { Team } from '../config/timesheets.ts';
import { NeedsOperator } from '../jobs/interruption.ts';
import type { Steps } from '../jobs/steps.ts';
import { listTimelogs } from '../partner/timelogs.ts';
import { listUsers } from '../partner/users.ts';
import { addressesOfNobody, type Member, type MinutesByDate, teamOf } from './shortfall.ts';
import { dateOf, readEntry } from './time-entry.ts';

/** Somebody of a team, and what they logged. */
export interface Timesheet extends Member {
  userId: string | number;
  name: string;
  minutes: MinutesByDate;
  /** Why entries of theirs could not be read; what they logged is not known then. */
  unreadable: string[];
  /** The tasks that they logged time on last, the newest first; their names where the entries have them. */
  tasks: Task[];
}

interface Task {
  id: string;
  name?: string | undefined;
}

/** A user of the service, without what they logged. */
type Person = Omit<Timesheet, 'minutes' | 'unreadable' | 'tasks'>;

/** Both dates are included. */
interface Range {
  from: string;
  to: string;
}

export interface TeamReading {
  sheets: Timesheet[];
  /** Addresses in the team's settings that no user has, by where they stand there. */
  addressesOfNobody: Readonly<Record<string, string>>;
}

const PAGE_SIZE = 100;
const USER_PAGES = 50;
const ENTRY_PAGES = 200;
/** More than anybody logs in a week: only a service that ignores `user_id` has a second page of one person. */
const PAGES_OF_ONE = 1;
const TASKS = 5;

/**
 * The timesheets of a team over some days: all of its people and all their entries, page by page rather than person by
 * person. An entry that is deleted meanwhile moves others to a page that was read already, so that those who seem to be
 * short are read again, each alone, where there was more than one page. Everything of it is journalled.
 */
export async function readTimesheets(
  teams: readonly Team[],
  team: Team,
  range: Range,
  isShort: (sheet: Timesheet) => boolean,
  steps: Steps,
): Promise<TeamReading> {
  const { from, to } = range;
  const query = { per_page: PAGE_SIZE };
  const users = await steps.list('list users', listUsers, query, personOf, ({ userId }) => userId, USER_PAGES);
  if (users.kept.length === 0)
    throw new NeedsOperator('users/list has nobody with an email: is that field called otherwise here?');
  const people = users.kept.filter(({ email }) => teamOf(teams, team.connection, email) === team);
  const ids = new Set(people.map(({ userId }) => String(userId)));
  const read = await steps.list(
    'list time entries',
    listTimelogs,
    { date_from: from, date_to: to, per_page: PAGE_SIZE },
    (record) => (ids.has(userIdOf(record)) ? keptOf(record) : undefined),
    ({ id }) => id,
    ENTRY_PAGES,
  );
  if (!users.whole) throw unfinished('users/list');
  if (!read.whole) throw unfinished(`timelogs/list from ${from} to ${to}`);
  const sheets = people.map((person) => ({ ...person, ...sumOf(read.kept, person.userId, range) }));
  return {
    sheets: read.pages === 1 ? sheets : await readAgain(sheets, isShort, range, steps),
    addressesOfNobody: addressesOfNobody(team, users.kept),
  };
}

async function readAgain(
  sheets: readonly Timesheet[],
  isShort: (sheet: Timesheet) => boolean,
  range: Range,
  steps: Steps,
): Promise<Timesheet[]> {
  const again = new Map<Timesheet, Timesheet>();
  for (const sheet of sheets.filter(isShort)) {
    const read = await readOne(sheet, range, `list the time entries of ${sheet.userId} again`, PAGES_OF_ONE, steps);
    // From a service that ignores user_id, every entry of everybody would be read for each of them.
    if (!read) break;
    again.set(sheet, read);
  }
  return sheets.map((sheet) => again.get(sheet) ?? sheet);
}

/**
 * What somebody logged, read again for them alone.
 *
 * @param reading tells this reading from earlier ones, which are journalled too
 */
export async function readTimesheet(person: Person, range: Range, reading: number, steps: Steps): Promise<Timesheet> {
  const read = await readOne(person, range, `list their time entries, reading ${reading}, page`, ENTRY_PAGES, steps);
  if (!read) throw unfinished('timelogs/list of one user');
  return read;
}

/** @returns undefined where the list goes on after so many pages */
async function readOne(
  person: Person,
  range: Range,
  step: string,
  maxPages: number,
  steps: Steps,
): Promise<Timesheet | undefined> {
  const { kept, whole } = await steps.list(
    step,
    listTimelogs,
    { user_id: person.userId, date_from: range.from, date_to: range.to, per_page: PAGE_SIZE },
    (record) => (userIdOf(record) === String(person.userId) ? keptOf(record) : undefined),
    ({ id }) => id,
    maxPages,
  );
  return whole ? { ...person, ...sumOf(kept, person.userId, range) } : undefined;
}

function personOf({ user_id, name, email, dt_created }: z.output<typeof listUsers.data>[number]): Person | undefined {
  if (!email) return undefined;
  const createdOn = dateOf(dt_created);
  return { userId: user_id, name: name ?? email, email, ...(createdOn !== undefined && { createdOn }) };
}

function unfinished(list: string): NeedsOperator {
  return new NeedsOperator(`${list} could not be read to its end: are page and the filters called otherwise here?`);
}

/**
 * Whose entry it is.
 * @throws {NeedsOperator} where there is no such field, for then nobody's hours are known
 */
function userIdOf({ user_id }: Readonly<Record<string, unknown>>): string {
  if (user_id !== undefined) return String(user_id);
  throw new NeedsOperator('timelogs/list has entries without user_id: is that field called otherwise here?');
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

function sumOf(entries: readonly Kept[], userId: string | number, { from, to }: Range) {
  const minutes: Record<string, number> = {};
  const unreadable: string[] = [];
  const tasks = new Map<string, Task>();
  const theirs = entries.filter((entry) => entry.userId === String(userId));
  const newestFirst = theirs.sort((a, b) => (b.date ?? '').localeCompare(a.date ?? ''));
  for (const entry of newestFirst) {
    if (entry.date !== undefined && (entry.date < from || entry.date > to)) continue;
    if (entry.unreadable !== undefined) unreadable.push(entry.unreadable);
    if (entry.date === undefined || entry.minutes === undefined) continue;
    minutes[entry.date] = (minutes[entry.date] ?? 0) + entry.minutes;
    if (entry.task && tasks.size < TASKS) tasks.set(entry.task.id, entry.task);
  }
  return { minutes, unreadable, tasks: [...tasks.values()] };
}
