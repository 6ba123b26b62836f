import * as z from 'zod';
import type { PartnerClient } from '../../lib/service/partner/client.ts';
import { PartnerRefusal } from '../../lib/service/partner/errors.ts';
import type { Operation } from '../../lib/service/partner/operation.ts';
import { listDefects } from '../../lib/service/partner/operations/defects.ts';
import { listTasks, searchTasks, type taskDetail, taskName } from '../../lib/service/partner/operations/tasks.ts';
import { listTimelogs } from '../../lib/service/partner/operations/timelogs.ts';
import { listUsers } from '../../lib/service/partner/operations/users.ts';
import { readEntry } from '../../lib/timesheets/time-entry.ts';
import { CannotTell } from './finding.ts';

export type ServiceRow = Readonly<Record<string, unknown>>;

/** A filter that the relay uses, and its expected behavior. */
export interface ListFilter {
  name: string;
  /** The filter that returns this row and rows like it; undefined if the row lacks the field. */
  like(row: ServiceRow): Readonly<Record<string, unknown>> | undefined;
  /** Whether that filter may return the row. */
  matches(row: ServiceRow, filter: Readonly<Record<string, unknown>>): boolean;
  /** A filter of the same kind that matches no rows. */
  nothing(filter: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
}

/** A list that the relay reads, and the filters it uses. */
export interface ListToCheck {
  operation: Operation;
  payload: Readonly<Record<string, unknown>>;
  filters: readonly ListFilter[];
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

/** A search may match loosely and in any field, but must find nothing for a text that does not occur. */
const text: ListFilter = {
  name: 'q',
  like(row) {
    const name = row.name ?? row.title;
    return typeof name === 'string' && name !== '' ? { q: name } : undefined;
  },
  matches: () => true,
  nothing: () => ({ q: 'zzqx-doctor-looks-for-nothing' }),
};

function dayOf(row: ServiceRow): string | undefined {
  return readEntry(row).date;
}

/** The lists that the relay reads. Their fields or filters are assumed. */
export function listsToCheck(projectId: string | undefined): readonly ListToCheck[] {
  const project = projectId === undefined ? {} : { project_id: projectId };
  return [
    { operation: listUsers, payload: {}, filters: [] },
    { operation: listDefects, payload: project, filters: [equal('project_id')] },
    { operation: listTimelogs, payload: {}, filters: [equal('user_id'), equal('task_id'), days] },
    ...(projectId === undefined ? [] : [{ operation: listTasks, payload: project, filters: [equal('project_id')] }]),
    { operation: searchTasks, payload: { q: 'a' }, filters: [text] },
  ];
}

const ROWS = 5;

/** A few records of a list, with any fields. */
export async function readRows(
  call: PartnerClient['call'],
  operation: Operation,
  payload: Readonly<Record<string, unknown>>,
): Promise<ServiceRow[]> {
  const anyFields = { ...operation, data: z.array(z.record(z.string(), z.unknown())) };
  return (await call(anyFields, { page: 1, per_page: ROWS, ...payload })).data;
}

/** Compares a few records with the fields that the relay assumes. @throws {Error} that names the missing fields */
export function compareFields(operation: Operation, rows: readonly ServiceRow[]): string {
  const [row] = rows;
  if (!row) throw new CannotTell('answers, but is empty, so its fields cannot be checked yet');
  if (operation.name === listTimelogs.name) return compareEntries(rows);
  const wanted = fieldsRead(operation);
  const missing = wanted.filter((field) => !(field in row));
  if (operation.name === searchTasks.name || operation.name === listTasks.name) {
    // It is not shown whether a task has a name or a title (docs/partner-api.md#project), so either is accepted.
    if (!('name' in row) && !('title' in row)) throw lacks('name or title', row);
    if (!('task_id' in row)) throw lacks('task_id', row);
    return `has task_id and ${'name' in row ? 'name' : 'title'}`;
  }
  if (missing.length > 0) throw lacks(missing.join(', '), row);
  return wanted.length > 0 ? `has ${wanted.join(', ')}` : 'answers; the relay assumes no fields here';
}

function lacks(missing: string, row: ServiceRow): Error {
  const fields = Object.keys(row).join(', ');
  return new Error(
    `lacks ${missing}; it has ${fields}. Set the correct field names in relay.config.ts, under operations`,
  );
}

/** Time entries can have several formats, so this reads them the way reminders do. */
function compareEntries(rows: readonly ServiceRow[]): string {
  const faults = rows.map(readEntry).flatMap((entry) => ('unreadable' in entry ? [entry.unreadable] : []));
  const fields = Object.keys(rows[0] ?? {}).join(', ');
  if (faults.length > 0) {
    throw new Error(
      `${faults.length} of ${rows.length} cannot be read: ${[...new Set(faults)].join('; ')}. They have ${fields}. Set the correct field names in relay.config.ts, under operations`,
    );
  }
  const optional = ['task_id', 'task_name', 'note'].filter((field) => rows.every((row) => !(field in row)));
  return `${rows.length} read, with user, date and hours${optional.length > 0 ? `; without ${optional.join(', ')}` : ''}`;
}

function fieldsRead({ data }: Operation): string[] {
  const row = data instanceof z.ZodArray ? data.element : undefined;
  return row instanceof z.ZodObject ? Object.keys(row.shape) : [];
}

/** Checks whether a task is found by its `task_id`, which is assumed. @throws {Error} if another one is returned */
export async function compareTask(
  call: PartnerClient['call'],
  operation: typeof taskDetail,
  tasks: readonly ServiceRow[],
): Promise<string> {
  const id = tasks.map(({ task_id }) => task_id).find((id) => typeof id === 'string' || typeof id === 'number');
  if (id === undefined) throw new CannotTell('there is no task yet that could be asked for');
  const { data } = await call(operation, { task_id: id });
  if (String(taskName(data)?.id) === String(id)) return 'returns the task of a task_id';
  throw new Error(
    'does not return the task that it was asked for by task_id. Set the correct field name in relay.config.ts, under operations',
  );
}

/**
 * Checks whether a filter works. For a value that no row has, it must return no rows. For the value of a row, it must
 * return only rows with that value. A service that ignores the filter, because its name differs there, fails one of the
 * two.
 */
export async function compareFilter(
  call: PartnerClient['call'],
  { operation, payload }: ListToCheck,
  filter: ListFilter,
  rows: readonly ServiceRow[],
): Promise<string> {
  if (rows.length === 0) throw new CannotTell('the list is empty, so the filter cannot be checked yet');
  const like = rows.map((row) => filter.like(row)).find((found) => found !== undefined);
  const none = await readRows(call, operation, { ...payload, ...filter.nothing(like ?? {}) }).catch(refusedAsUnknown);
  if (none.length > 0) throw ignored(filter, `it returned ${none.length} rows for a value that no row has`);
  if (!like)
    throw new CannotTell(`returns nothing for a value that no row has, but no row has a ${filter.name} to compare`);
  const matching = await readRows(call, operation, { ...payload, ...like });
  if (matching.length === 0) throw new Error(`returns nothing, although there is a row with that ${filter.name}`);
  const others = matching.filter((row) => !filter.matches(row, like)).length;
  if (others > 0) throw ignored(filter, `${others} of ${matching.length} rows do not match it`);
  return 'returns the rows that match, and no others';
}

/** A refusal of the unknown id counts as an empty list, because it shows that the service read the filter. */
function refusedAsUnknown(error: unknown): ServiceRow[] {
  if (error instanceof PartnerRefusal && [400, 404, 422].includes(error.status)) return [];
  throw error;
}

function ignored({ name }: ListFilter, why: string): Error {
  return new Error(`${name} is ignored: ${why}. Set the correct field name in relay.config.ts, under operations`);
}
