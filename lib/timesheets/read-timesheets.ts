import type * as z from 'zod';
import type { Team } from '../config/timesheets.ts';
import { NeedsOperator } from '../engine/record/interruption.ts';
import type { JobSteps } from '../engine/run/job-steps.ts';
import { listTimelogs } from '../service/partner/operations/timelogs.ts';
import { listUsers } from '../service/partner/operations/users.ts';
import { addressesOfNobody, type Member, type MinutesByDate, teamOf } from './shortfall.ts';
import { dateOf, readEntry } from './time-entry.ts';

/** A team member and their logged time. */
export interface Timesheet extends Member {
  userId: string | number;
  name: string;
  minutes: MinutesByDate;
  /** Why some entries could not be read. If there are any, the logged time is unknown. */
  unreadable: string[];
  /** The tasks of the person's latest entries, newest first, with names if the entries have them. */
  tasks: LoggedTask[];
  /** The ids of the entries that have one. */
  ids: string[];
}

interface LoggedTask {
  id: string;
  name?: string | undefined;
}

/** A team member without their logged time. */
export type TeamMember = Omit<Timesheet, 'minutes' | 'unreadable' | 'tasks' | 'ids'>;

/** Both dates are inclusive. */
export interface Range {
  from: string;
  to: string;
}

const USER_PAGES = 50;
const ENTRY_PAGES = 200;
/**
 * More entries than a person logs in a week. Only a service that ignores `user_id` returns a second page for one
 * person.
 */
const PAGES_OF_ONE = 1;
/** Allows for a service with small pages. */
const PAGES_OF_OWN = 5;
const TASKS = 5;

/**
 * Returns a team's timesheets for some days. Reads everyone's entries page by page rather than person by person. If an
 * entry is deleted meanwhile, others move to a page that was already read. So if there was more than one page, each
 * person with missing time is read again separately. Everything is journalled.
 */
export async function readTimesheets(
  teams: readonly Team[],
  team: Team,
  range: Range,
  isShort: (sheet: Timesheet) => boolean,
  steps: JobSteps,
) {
  const { from, to } = range;
  const users = await steps.list('list users', listUsers, {}, personOf, ({ userId }) => userId, USER_PAGES);
  if (users.kept.length === 0)
    throw new NeedsOperator(
      'users/list returned no user with an email: check the field name, and set an override in relay.config.ts',
    );
  const people = users.kept.filter(({ email }) => teamOf(teams, team.connection, email) === team);
  const ids = new Set(people.map(({ userId }) => String(userId)));
  const read = await steps.list(
    'list time entries',
    listTimelogs,
    { date_from: from, date_to: to },
    (record) => (ids.has(userIdOf(record)) ? keptOf(record) : undefined),
    ({ id }) => id,
    ENTRY_PAGES,
  );
  if (!users.whole) throw unfinished('users/list');
  if (!read.whole) throw unfinished(`timelogs/list from ${from} to ${to}`);
  const sheets = people.map((person) => ({ ...person, ...sumOf(read.kept, person.userId, range) }));
  return {
    sheets: read.pages === 1 ? sheets : await readAgain(sheets, isShort, range, steps),
    /** Addresses in the team's settings that belong to no user, by their paths there. */
    addressesOfNobody: addressesOfNobody(team, users.kept),
  };
}

async function readAgain(
  sheets: readonly Timesheet[],
  isShort: (sheet: Timesheet) => boolean,
  range: Range,
  steps: JobSteps,
): Promise<Timesheet[]> {
  const again = new Map<Timesheet, Timesheet>();
  for (const sheet of sheets.filter(isShort)) {
    const read = await readOne(sheet, range, `list the time entries of ${sheet.userId} again`, PAGES_OF_ONE, steps);
    // A service that ignores user_id would return everyone's entries for each person.
    if (!read) break;
    again.set(sheet, read);
  }
  return sheets.map((sheet) => again.get(sheet) ?? sheet);
}

/**
 * Reads one person's timesheet again separately.
 *
 * @param reading distinguishes this reading in the journal from earlier ones
 */
export async function readTimesheet(
  person: TeamMember,
  range: Range,
  reading: number,
  steps: JobSteps,
): Promise<Timesheet> {
  const read = await readOne(person, range, `list their time entries, reading ${reading}, page`, ENTRY_PAGES, steps);
  if (!read) throw unfinished('timelogs/list of one user');
  return read;
}

/** Reads a person's logged time with its entries. @returns undefined if the list is too long to be one person's */
export async function readEntries(userId: string | number, range: Range, steps: JobSteps) {
  const { kept, whole } = await listOf(userId, range, 'list the time entries, page', PAGES_OF_OWN, steps);
  return whole ? { entries: kept, ...sumOf(kept, userId, range) } : undefined;
}

/** @returns undefined if the list continues after the last allowed page */
async function readOne(
  person: TeamMember,
  range: Range,
  step: string,
  maxPages: number,
  steps: JobSteps,
): Promise<Timesheet | undefined> {
  const { kept, whole } = await listOf(person.userId, range, step, maxPages, steps);
  return whole ? { ...person, ...sumOf(kept, person.userId, range) } : undefined;
}

function listOf(userId: string | number, { from, to }: Range, step: string, maxPages: number, steps: JobSteps) {
  return steps.list(
    step,
    listTimelogs,
    { user_id: userId, date_from: from, date_to: to },
    (record) => (userIdOf(record) === String(userId) ? keptOf(record) : undefined),
    ({ id }) => id,
    maxPages,
  );
}

function personOf({
  user_id,
  name,
  email,
  dt_created,
}: z.output<typeof listUsers.data>[number]): TeamMember | undefined {
  if (!email) return undefined;
  const createdOn = dateOf(dt_created);
  return { userId: user_id, name: name ?? email, email, createdOn };
}

function unfinished(list: string): NeedsOperator {
  return new NeedsOperator(
    `${list} could not be read to its end: check the field names of page and the filters, and set an override in relay.config.ts, or paged: false if the list comes whole in one answer`,
  );
}

/**
 * Returns an entry's user id.
 * @throws {NeedsOperator} if the field is missing, because then no person's time is known
 */
function userIdOf({ user_id }: Readonly<Record<string, unknown>>): string {
  if (user_id !== undefined) return String(user_id);
  throw new NeedsOperator(
    'timelogs/list returned entries without user_id: check the field name, and set an override in relay.config.ts',
  );
}

export interface KeptEntry {
  id?: string;
  userId: string;
  date?: string;
  minutes?: number;
  task?: LoggedTask;
  unreadable?: string;
}

function keptOf(record: Readonly<Record<string, unknown>>): KeptEntry {
  const { timelog_id } = record;
  const about = { userId: userIdOf(record), ...(timelog_id != null && { id: String(timelog_id) }) };
  const entry = readEntry(record);
  if ('unreadable' in entry) return { ...about, ...entry };
  const { date, minutes, taskId, taskName } = entry;
  const task = taskId === undefined ? undefined : { id: taskId, name: taskName };
  return { ...about, date, minutes, task };
}

function sumOf(entries: readonly KeptEntry[], userId: string | number, { from, to }: Range) {
  const minutes: Record<string, number> = {};
  const unreadable: string[] = [];
  const tasks = new Map<string, LoggedTask>();
  const theirs = entries.filter((entry) => entry.userId === String(userId));
  const newestFirst = theirs.sort((a, b) => (b.date ?? '').localeCompare(a.date ?? ''));
  for (const entry of newestFirst) {
    if (entry.date !== undefined && (entry.date < from || entry.date > to)) continue;
    if (entry.unreadable !== undefined) unreadable.push(entry.unreadable);
    if (entry.date === undefined || entry.minutes === undefined) continue;
    minutes[entry.date] = (minutes[entry.date] ?? 0) + entry.minutes;
    if (entry.task && tasks.size < TASKS) tasks.set(entry.task.id, entry.task);
  }
  return { minutes, unreadable, tasks: [...tasks.values()], ids: theirs.flatMap(({ id }) => id ?? []) };
}
