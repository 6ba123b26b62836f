import * as z from 'zod';
import type { PartnerClient } from '../../lib/partner/client.ts';
import { listDefects } from '../../lib/partner/defects.ts';
import { PartnerRefusal } from '../../lib/partner/errors.ts';
import type { Operation } from '../../lib/partner/operation.ts';
import { listTasks, searchTasks } from '../../lib/partner/tasks.ts';
import { listTimelogs } from '../../lib/partner/timelogs.ts';
import { listUsers } from '../../lib/partner/users.ts';
import { readEntry } from '../../lib/timesheets/time-entry.ts';
import { CannotTell } from './finding.ts';

export type Row = Readonly<Record<string, unknown>>;

/** A filter that the relay uses, and what it must do. */
export interface Filter {
  name: string;
  /** The filter that returns this row and rows like it; undefined where the row lacks the field. */
  like(row: Row): Readonly<Record<string, unknown>> | undefined;
  /** Whether a row may come back under that filter. */
  matches(row: Row, filter: Readonly<Record<string, unknown>>): boolean;
  /** A filter of the same kind that nothing matches. */
  nothing(filter: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
}

/** A list that the relay reads, and the filters with which it does. */
export interface ListToLookAt {
  operation: Operation;
  payload: Readonly<Record<string, unknown>>;
  filters: readonly Filter[];
}

const NO_UUID = '00000000-0000-4000-8000-000000000000';
/** The largest number that most databases take for an id. */
const NO_NUMBER = 2_147_483_647;

/** A field of the rows that must be the filter's value. */
function equal(name: string): Filter {
  return {
    name,
    like: (row) => (row[name] === undefined || row[name] === null ? undefined : { [name]: row[name] }),
    matches: (row, filter) => String(row[name]) === String(filter[name]),
    nothing: (filter) => ({ [name]: typeof filter[name] === 'number' ? NO_NUMBER : NO_UUID }),
  };
}

const days: Filter = {
  name: 'date_from and date_to',
  like(row) {
    const date = dayOf(row);
    return date === undefined ? undefined : { date_from: date, date_to: date };
  },
  matches: (row, { date_from }) => dayOf(row) === date_from,
  nothing: () => ({ date_from: '1970-01-01', date_to: '1970-01-02' }),
};

/** A search may find more than the text itself, in any field; but nothing by a text that is nowhere. */
const text: Filter = {
  name: 'q',
  like(row) {
    const name = row.name ?? row.title;
    return typeof name === 'string' && name !== '' ? { q: name } : undefined;
  },
  matches: () => true,
  nothing: () => ({ q: 'zzqx-doctor-looks-for-nothing' }),
};

function dayOf(row: Row): string | undefined {
  return readEntry(row).date;
}

/** The lists that the relay reads. Their fields or filters are assumed. */
export function listsToLookAt(projectId: string | undefined): readonly ListToLookAt[] {
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

/** A few records of a list, whatever their fields are. */
export async function readRows(
  call: PartnerClient['call'],
  operation: Operation,
  payload: Readonly<Record<string, unknown>>,
): Promise<Row[]> {
  const open = { ...operation, data: z.array(z.record(z.string(), z.unknown())) };
  return (await call(open, { page: 1, per_page: ROWS, ...payload })).data;
}

/** Compares a few records with the fields that the relay assumes of them. @throws {Error} that names the missing ones */
export function compareFields(operation: Operation, rows: readonly Row[]): string {
  const [row] = rows;
  if (!row) throw new CannotTell('answers, but is empty: whether its fields are the assumed ones cannot be seen yet');
  if (operation.name === listTimelogs.name) return compareEntries(rows);
  const wanted = fieldsRead(operation);
  const missing = wanted.filter((field) => !(field in row));
  if (operation.name === searchTasks.name || operation.name === listTasks.name) {
    // Neither a task's name nor its title is shown (docs/partner-api.md#project): either will do.
    if (!('name' in row) && !('title' in row)) throw lacks('name or title', row);
    if (!('task_id' in row)) throw lacks('task_id', row);
    return `has task_id and ${'name' in row ? 'name' : 'title'}`;
  }
  if (missing.length > 0) throw lacks(missing.join(', '), row);
  return wanted.length > 0 ? `has ${wanted.join(', ')}` : 'answers; the relay assumes none of its fields';
}

function lacks(missing: string, row: Row): Error {
  const fields = Object.keys(row).join(', ');
  return new Error(`lacks ${missing}; it has ${fields}. Name the right fields in relay.config.ts, under operations`);
}

/** Time entries are understood in several forms, so they are read as reminders read them. */
function compareEntries(rows: readonly Row[]): string {
  const faults = rows.map(readEntry).flatMap((entry) => ('unreadable' in entry ? [entry.unreadable] : []));
  const fields = Object.keys(rows[0] ?? {}).join(', ');
  if (faults.length > 0) {
    throw new Error(
      `${faults.length} of ${rows.length} cannot be read: ${[...new Set(faults)].join('; ')}. They have ${fields}. Name the right fields in relay.config.ts, under operations`,
    );
  }
  const optional = ['task_id', 'task_name', 'note'].filter((field) => rows.every((row) => !(field in row)));
  return `${rows.length} read: user, date and hours are there${optional.length > 0 ? `; without ${optional.join(', ')}` : ''}`;
}

function fieldsRead({ data }: Operation): string[] {
  const row = data instanceof z.ZodArray ? data.element : undefined;
  return row instanceof z.ZodObject ? Object.keys(row.shape) : [];
}

/**
 * Whether a filter filters: by a value of nothing it must return no rows, and by the value of a row only such rows. A service that ignores the filter, because it has another name there, fails one of the two.
 */
export async function compareFilter(
  call: PartnerClient['call'],
  { operation, payload }: ListToLookAt,
  filter: Filter,
  rows: readonly Row[],
): Promise<string> {
  if (rows.length === 0) throw new CannotTell('the list is empty: whether it is filtered cannot be seen yet');
  const like = rows.map((row) => filter.like(row)).find((found) => found !== undefined);
  const none = await readRows(call, operation, { ...payload, ...filter.nothing(like ?? {}) }).catch(refusedAsUnknown);
  if (none.length > 0) throw ignored(filter, `${none.length} rows came for a value that nothing has`);
  if (!like)
    throw new CannotTell(`returns nothing for a value that nothing has, and no row shows another ${filter.name}`);
  const matching = await readRows(call, operation, { ...payload, ...like });
  if (matching.length === 0) throw new Error(`returns nothing, although there is a row with that ${filter.name}`);
  const others = matching.filter((row) => !filter.matches(row, like)).length;
  if (others > 0) throw ignored(filter, `${others} of ${matching.length} rows do not match it`);
  return 'returns the rows that match, and no others';
}

/** An id of nothing may be refused: then the service has read it. */
function refusedAsUnknown(error: unknown): Row[] {
  if (error instanceof PartnerRefusal && [400, 404, 422].includes(error.status)) return [];
  throw error;
}

function ignored({ name }: Filter, why: string): Error {
  return new Error(`${name} is ignored: ${why}. Name the right field in relay.config.ts, under operations`);
}
