import * as z from 'zod';
import { CannotTell } from '../../lib/checks/check.ts';
import type { PartnerClient } from '../../lib/service/partner/client.ts';
import { PartnerRefusal } from '../../lib/service/partner/errors.ts';
import { type Operation, openRecord, withAnyFields } from '../../lib/service/partner/operation.ts';
import { listDefects } from '../../lib/service/partner/operations/defects.ts';
import { listProjects, searchProjects } from '../../lib/service/partner/operations/projects.ts';
import { listTasks, searchTasks } from '../../lib/service/partner/operations/tasks.ts';
import { listTimelogs } from '../../lib/service/partner/operations/timelogs.ts';
import { listUsers } from '../../lib/service/partner/operations/users.ts';
import { askForFirst, PAGE_SIZE, type Paging, pages } from '../../lib/service/partner/pages.ts';
import { readEntry } from '../../lib/timesheets/time-entry.ts';

import { compareRows, idField, type ServiceRow } from './rows.ts';

/** A filter that the relay uses, with its expected behavior. */
export interface ListFilter {
  name: string;
  /** Makes the filter that returns this row and similar rows; undefined if the row lacks the field. */
  like(row: ServiceRow): Readonly<Record<string, unknown>> | undefined;
  /** Whether the filter may return the row. */
  matches(row: ServiceRow, filter: Readonly<Record<string, unknown>>): boolean;
  /** A filter of the same kind that matches no rows. */
  nothing(filter: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
}

/** A list that the relay reads, and the filters it uses. */
export interface ListToCheck {
  operation: Operation;
  payload: Readonly<Record<string, unknown>>;
  filters: readonly ListFilter[];
  /** What its first page showed. */
  paging?: Paging;
}

const NO_UUID = '00000000-0000-4000-8000-000000000000';
/** The largest number that most databases accept as an id. */
const NO_NUMBER = 2_147_483_647;

/** A filter that returns rows with an equal value in the field of the same name. */
function equal(name: string): ListFilter {
  return {
    name,
    like: (row) => (row[name] === undefined || row[name] === null ? undefined : { [name]: row[name] }),
    matches: (row, filter) => String(row[name]) === String(filter[name]),
    nothing: (filter) => ({ [name]: typeof filter[name] === 'number' ? NO_NUMBER : NO_UUID }),
  };
}

const days: ListFilter = {
  name: 'date_from and date_to',
  like(row) {
    const date = dayOf(row);
    return date === undefined ? undefined : { date_from: date, date_to: date };
  },
  matches: (row, { date_from }) => dayOf(row) === date_from,
  nothing: () => ({ date_from: '1970-01-01', date_to: '1970-01-02' }),
};

const ofUser = equal('user_id');

/** The filter with which reminders read one person's entries again. */
const ofOneUser: ListFilter = {
  name: 'user_id, date_from and date_to',
  like(row) {
    const { user_id } = row;
    const ofDay = days.like(row);
    return ofDay && user_id !== undefined && user_id !== null ? { ...ofDay, user_id } : undefined;
  },
  matches: (row, filter) => days.matches(row, filter) && String(row.user_id) === String(filter.user_id),
  nothing: ({ user_id, ...ofDay }) => ({ ...ofDay, ...ofUser.nothing({ user_id }) }),
};

const nameOf = ({ name, title }: ServiceRow): unknown => name ?? title;

/**
 * A search may match loosely and in any field, but must find nothing for a text that does not occur. People type the
 * beginning of a name, in lower case.
 */
const text: ListFilter = {
  name: 'q',
  like(row) {
    const [, first] = /^(\S+\s+\S+|\S{4,})/.exec(String(nameOf(row) ?? '')) ?? [];
    return first === undefined ? undefined : { q: first.toLowerCase() };
  },
  matches: () => true,
  nothing: () => ({ q: 'zzqx-doctor-looks-for-nothing' }),
};

function dayOf(row: ServiceRow): string | undefined {
  return readEntry(row).date;
}

/** The lists that the relay reads with assumed fields, filters or pages. */
export function listsToCheck(projectId: string | undefined): readonly ListToCheck[] {
  const project = projectId === undefined ? {} : { project_id: projectId };
  return [
    { operation: listProjects, payload: {}, filters: [] },
    { operation: searchProjects, payload: { q: 'a' }, filters: [text] },
    { operation: listUsers, payload: {}, filters: [] },
    { operation: listDefects, payload: project, filters: [equal('project_id')] },
    { operation: listTimelogs, payload: {}, filters: [ofUser, equal('task_id'), days, ofOneUser] },
    ...(projectId === undefined ? [] : [{ operation: listTasks, payload: project, filters: [equal('project_id')] }]),
    { operation: searchTasks, payload: { q: 'a' }, filters: [text] },
  ];
}

/** Reads the first page of a list, with any fields. @returns its rows, and the paging that was used */
export async function readRows(
  call: PartnerClient['call'],
  operation: Operation,
  payload: ServiceRow,
  known?: Paging,
): Promise<{ rows: ServiceRow[]; paging: Paging }> {
  const ask = (asked: object) => call(withAnyFields(operation), asked as ServiceRow);
  const { result, paging } = await askForFirst(operation, payload, ask, known);
  return { rows: result.data, paging };
}

/** Returns the first long word of a name, to search for if the service refuses a search for one letter. */
export function longerSearch(error: unknown, { payload }: ListToCheck, names: readonly ServiceRow[]): ServiceRow {
  const word = names.flatMap((row) => /\p{L}{4,}/u.exec(String(nameOf(row) ?? '')) ?? [])[0];
  if (!('q' in payload) || word === undefined || !isRefusedValue(error)) throw error;
  return { ...payload, q: word.toLowerCase() };
}

/** Checks for the fields that the relay assumes. @throws {Error} that names the missing fields */
export function compareFields(operation: Operation, rows: readonly ServiceRow[]): string {
  if (rows.length === 0) throw new CannotTell('answers, but is empty, so its fields cannot be checked yet');
  compareRows(operation, rows);
  if (operation.name === listTimelogs.name) return compareEntries(rows);
  const has = (field: string) => rows.some((row) => field in row);
  // docs/partner-api.md#project does not show whether a task has a name or a title, so either is accepted.
  const isTasks = operation.name === searchTasks.name || operation.name === listTasks.name;
  const wanted = isTasks ? ['task_id', has('title') && !has('name') ? 'title' : 'name'] : fieldsRead(operation);
  const missing = wanted.filter((field) => !has(field));
  if (missing.length > 0) throw new Error(`lacks ${missing.join(', ')}; it has ${fieldsOf(rows)}`);
  const empty = wanted.filter((field) => rows.every((row) => row[field] === null || row[field] === ''));
  if (empty.length > 0)
    throw new CannotTell(`${empty.join(', ')} is empty in all ${rows.length} rows; the relay needs it`);
  return wanted.length > 0 ? `has ${wanted.join(', ')}` : 'answers; the relay assumes no fields here';
}

const fieldsOf = (rows: readonly ServiceRow[]) => Object.keys(rows[0] ?? {}).join(', ');

const LONG_DAY_HOURS = { whole: 8, any: 12 };

/** Checks time entries. Their format may vary, so this reads them as reminders do. */
function compareEntries(all: readonly ServiceRow[]): string {
  const isTimer = ({ hours, minutes }: ServiceRow) => hours === null && (minutes ?? null) === null;
  const rows = all.filter((row) => !isTimer(row));
  if (rows.length === 0) throw new CannotTell(`none of ${all.length} has hours, as a running timer has none`);
  const entries = rows.map(readEntry);
  const faults = entries.flatMap((entry) => ('unreadable' in entry ? [entry.unreadable] : []));
  if (faults.length > 0) {
    const reasons = [...new Set(faults)].join('; ');
    throw new Error(`${faults.length} of ${rows.length} cannot be read: ${reasons}. They have ${fieldsOf(rows)}`);
  }
  const hours = entries.map((entry) => ('minutes' in entry ? entry.minutes / 60 : 0));
  const longest = Math.max(...hours);
  const mostHours = LONG_DAY_HOURS[hours.every(Number.isInteger) ? 'whole' : 'any'];
  // Minutes that are read as hours would be too long a day, or would all be multiples of five.
  if (longest > mostHours || hours.every((one) => one % 5 === 0)) {
    throw new CannotTell(`the longest of ${rows.length} has ${longest} hours; if those are minutes, set the unit`);
  }
  const absent = ['task_id', 'note'].filter((field) => rows.every((row) => (row[field] ?? '') === ''));
  if (absent.length > 0) throw new CannotTell(`${rows.length} read, but none has ${absent.join(' or ')}`);
  const timers = all.length - rows.length;
  const running = timers > 0 ? `; ${timers} without hours, as a running timer has none, count as unreadable` : '';
  return `${rows.length} read, with user, date, hours, task_id and note; the longest has ${longest} hours${running}`;
}

/** Checks that the second page follows the first, and that the list ends. @throws {Error} if paging does not work */
export async function comparePages(
  call: PartnerClient['call'],
  list: ListToCheck,
  rows: readonly ServiceRow[],
): Promise<string> {
  const found = rows.length < 2 ? undefined : await compareSecond(call, list, rows);
  const end = await compareEnd(call, list);
  if (found === undefined) throw new CannotTell('has fewer than two rows, so its pages cannot be compared yet');
  return `${found}${end}`;
}

/** The pages of a list, after its first page. */
function pagesOf(
  call: PartnerClient['call'],
  { operation, payload, paging = { size: PAGE_SIZE } }: ListToCheck,
  maxPages: number,
) {
  const known = { paging: async () => paging, keepPaging: async () => {} };
  return pages(call, withAnyFields(operation), payload, maxPages, known);
}

async function compareSecond(
  call: PartnerClient['call'],
  list: ListToCheck,
  rows: readonly ServiceRow[],
): Promise<string> {
  const { operation, payload } = list;
  const { pageSize = 'per_page', paged } = operation;
  const reading = pagesOf(call, { ...list, payload: { ...payload, [pageSize]: 1 } }, 2);
  const first = await reading.next();
  const second = await reading.next();
  const came = first.done ? [] : first.value.data;
  if (!second.done) {
    const field = idField(operation);
    const [begun, listed] = [[...came, ...second.value.data], rows].map((some) =>
      some.map((row) => String(row[field])),
    );
    if (begun?.some((id, index) => id !== listed?.[index]))
      throw new CannotTell('its pages do not have the rows in the order of the list, so a row may be on no page');
    return 'the second page follows the first';
  }
  if (second.value && came.length >= rows.length) return 'comes whole, in one answer';
  throw new Error(
    second.value
      ? `comes whole by ${paged ? 'its pagination' : 'relay.config.ts (paged: false)'}, but ${came.length} of ${rows.length} rows came`
      : `returns no second page, so it may be cut off after ${rows.length} rows; if it comes whole, set paged: false`,
  );
}

const PAGES_TO_END = 5;

/** Reads a list to its end, unless it is too long. */
async function compareEnd(call: PartnerClient['call'], list: ListToCheck): Promise<string> {
  let [rows, read, total] = [0, 0, undefined as number | null | undefined];
  const reading = pagesOf(call, list, PAGES_TO_END);
  for (;;) {
    const page = await reading.next();
    if (page.done && !page.value && read < PAGES_TO_END)
      throw new Error(
        'has no end: after its last page, the service refuses or repeats. It never counts as whole, so reminders and searches stop at it; if it comes whole, set paged: false',
      );
    if (page.done && page.value && (total ?? rows) !== rows)
      throw new Error(`says that it has ${total} rows, and ${rows} came`);
    if (page.done) return page.value ? `, to its end: ${rows} rows` : '';
    rows += page.value.data.length;
    total = page.value.pagination?.total;
    read++;
  }
}

function fieldsRead({ data, evidence }: Operation): string[] {
  const row = data instanceof z.ZodArray ? data.element : undefined;
  if (!(row instanceof z.ZodObject)) return [];
  return evidence === 'documented' ? ['project_id', 'name'] : Object.keys(row.shape);
}

/**
 * Checks whether an operation returns the record of an id. The name of the id's field is assumed. @throws {Error} if it
 * returns another record
 */
export async function compareDetail(
  call: PartnerClient['call'],
  operation: Operation,
  field: string,
  rows: readonly ServiceRow[],
): Promise<string> {
  const row = rows.find((one) => typeof one[field] === 'string' || typeof one[field] === 'number');
  if (!row) throw new CannotTell(`there is no ${field} yet that could be asked for`);
  const { data } = await call({ ...operation, data: openRecord }, { [field]: row[field] });
  const isSame =
    field === 'timelog_id'
      ? JSON.stringify([readEntry(data), data.note]) === JSON.stringify([readEntry(row), row.note])
      : String(data[field]) === String(row[field]);
  if (isSame) return `returns what it is asked for by ${field}`;
  throw new Error(`does not return what it is asked for by ${field}`);
}

/** Checks that time entries use the same user ids as the list of users. */
export function compareUsers(users: readonly ServiceRow[], entries: readonly ServiceRow[]): string {
  if (users.length === 0 || entries.length === 0) throw new CannotTell('there are no users or no entries to compare');
  const known = new Set(users.map(({ user_id }) => String(user_id)));
  const logging = new Set(entries.map(({ user_id }) => String(user_id)));
  if (users.length > 1 && entries.length > 1 && logging.size === 1)
    throw new CannotTell(
      `all ${entries.length} entries belong to one of ${users.length} users; if others log time, the key does not see it, and they get reminders anyway`,
    );
  if ([...logging].some((id) => known.has(id))) return 'entries have the user_id of users/list';
  const none = `no user_id of ${entries.length} entries is one of ${users.length} users`;
  throw users.length < PAGE_SIZE ? new Error(none) : new CannotTell(none);
}

/**
 * Checks whether a filter works. For a value that no row has, it must return no rows. For the value of a row, it must
 * return only rows with that value. If the service ignores the filter, because its name differs there, one of these
 * fails.
 */
export async function compareFilter(
  call: PartnerClient['call'],
  { operation, payload, paging }: ListToCheck,
  filter: ListFilter,
  rows: readonly ServiceRow[],
): Promise<string> {
  if (rows.length === 0)
    throw new CannotTell('the list is empty or cannot be read, so the filter cannot be checked yet');
  // A value in the middle shows whether the service applies both ends of a range.
  const middle = Math.floor(rows.length / 2);
  const like = [...rows.slice(middle), ...rows].map((row) => filter.like(row)).find((found) => found !== undefined);
  const read = async (by: ServiceRow) => (await readRows(call, operation, { ...payload, ...by }, paging)).rows;
  const none = await read(filter.nothing(like ?? {})).catch(refusedAsUnknown);
  if (none.length > 0) throw ignored(filter, `it returned ${none.length} rows for a value that no row has`);
  if (!like)
    throw new CannotTell(`returns nothing for a value that no row has, but no row has a ${filter.name} to compare`);
  const matching = await read(like);
  if (matching.length === 0) throw new Error(`returns nothing, although there is a row with that ${filter.name}`);
  const others = matching.filter((row) => !filter.matches(row, like)).length;
  if (others > 0) throw ignored(filter, `${others} of ${matching.length} rows do not match it`);
  return 'returns the rows that match, and no others';
}

/** Treats the refusal of an unknown id as an empty list, because it shows that the service read the filter. */
function refusedAsUnknown(error: unknown): ServiceRow[] {
  if (isRefusedValue(error)) return [];
  throw error;
}

function isRefusedValue(error: unknown): boolean {
  return error instanceof PartnerRefusal && [400, 404, 422].includes(error.status);
}

function ignored({ name }: ListFilter, why: string): Error {
  return new Error(`${name} is ignored: ${why}`);
}
