import type { JobDetail, JobPage, JobRow, LinkPage, LinkRow } from '../contract.ts';
import { get } from './api.ts';
import { type Resource, type Source, useReading } from './resource.ts';

/** A list of the API that is read page by page. */
interface Listed<Row> {
  path: string;
  rowsOf(page: { cursor?: string }): { rows: readonly Row[]; read: number };
  idOf(row: Row): string;
  /** Reads one row again. Without it, changes of jobs do not concern the list. */
  row?: (id: string, signal: AbortSignal) => Promise<Row>;
}

/** What was read of a list. */
interface Rows<Row> {
  rows: readonly Row[];
  cursor: string | undefined;
  /** How many were read for the rows. */
  read: number;
  pages: number;
  /** How many others than `rows` have changed since they were read. */
  others: ReadonlySet<string>;
}

export interface List<Row> extends Resource<Rows<Row>>, Rows<Row> {
  more(): void;
}

/** For a rare match, this many pages are searched before the operator is asked whether to go on. */
const PAGES_AT_ONCE = 8;
const ROWS_AT_ONCE = 20;
/** Changed rows that are read again one by one. */
const REREAD_AT_ONCE = 10;

export const jobList: Listed<JobRow> = {
  path: '/api/jobs',
  rowsOf: (page) => ({ rows: (page as JobPage).jobs, read: (page as JobPage).read }),
  idOf: ({ id }) => id,
  row: (id, signal) => get<JobDetail>(`/api/jobs/${encodeURIComponent(id)}`, signal),
};

export const linkList: Listed<LinkRow> = {
  path: '/api/links',
  rowsOf: (page) => ({ rows: (page as LinkPage).links, read: (page as LinkPage).links.length }),
  idOf: ({ entity }) => entity,
};

const empty = { rows: [], cursor: undefined, read: 0, pages: 0, others: new Set<string>() };

/**
 * The rows that match a query, page by page. The first page follows every change. If more pages were searched, their rows
 * follow, and others are only counted: nothing moves while a person reads, and no change costs another search.
 */
export function useList<Row>(of: Listed<Row>, query: string): List<Row> {
  const resource = useReading(`${of.path}?${query}`, () => sourceOf(of, query));
  const data = resource.data ?? empty;
  return {
    ...resource,
    ...data,
    more: () => {
      if (!resource.isReading && data.cursor !== undefined) resource.extend(readOn(of, query));
    },
  };
}

function sourceOf<Row>(of: Listed<Row>, query: string): Source<Rows<Row>> {
  const { row } = of;
  const read = readOn(of, query);
  const front: typeof read = (_, signal, show) => read(undefined, signal, show);
  if (!row) return { read: front, concerns: () => false };
  return {
    read: front,
    follow: (changed) => async (before, signal, show) => {
      if (!before || before.pages <= 1) return front(before, signal, show);
      const shown = changed.filter((id) => before.rows.some((one) => of.idOf(one) === id)).slice(0, REREAD_AT_ONCE);
      const others = new Set([...before.others, ...changed.filter((id) => !shown.includes(id))]);
      const news = await Promise.all(shown.map((id) => row(id, signal).catch(() => undefined)));
      const newest = new Map(news.flatMap((one) => (one ? [[of.idOf(one), one] as const] : [])));
      return { ...before, rows: before.rows.map((one) => newest.get(of.idOf(one)) ?? one), others };
    },
  };
}

/** Reads pages until there are enough new rows. */
function readOn<Row>(of: Listed<Row>, query: string): Source<Rows<Row>>['read'] {
  return async (before = empty, signal, show) => {
    let next = before;
    for (let page = 0; page < PAGES_AT_ONCE; page++) {
      const parameters = new URLSearchParams(query);
      if (next.cursor !== undefined) parameters.set('cursor', next.cursor);
      const answer = await get<{ cursor?: string }>(`${of.path}?${parameters}`, signal);
      const { rows, read } = of.rowsOf(answer);
      const known = new Set(next.rows.map(of.idOf));
      next = {
        ...next,
        rows: [...next.rows, ...rows.filter((row) => !known.has(of.idOf(row)))],
        cursor: answer.cursor,
        read: next.read + read,
        pages: next.pages + 1,
      };
      if (next.cursor === undefined || next.rows.length - before.rows.length >= ROWS_AT_ONCE) break;
      // Rows that are found early are shown early.
      if (before.pages > 0 || next.rows.length > 0 || next.pages > 1) show(next);
    }
    return next;
  };
}
