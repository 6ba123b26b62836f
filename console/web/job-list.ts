import type { JobDetail, JobPage, JobRow } from '../contract.ts';
import { get } from './api.ts';
import { type Source, useReading } from './resource.ts';

/** The rows of the list so far. */
interface Rows {
  rows: readonly JobRow[];
  cursor: string | undefined;
  /** How many jobs the server read to find the rows. */
  read: number;
  pages: number;
  /** The ids of other jobs that have changed since then. */
  others: ReadonlySet<string>;
}

export type JobList = ReturnType<typeof useJobs>;

/** How many pages are searched for a rare match before the operator decides whether to continue. */
const PAGES_AT_ONCE = 8;
const ROWS_AT_ONCE = 20;
/** The most changed rows that are read again one by one. */
const REREAD_AT_ONCE = 10;

const empty: Rows = { rows: [], cursor: undefined, read: 0, pages: 0, others: new Set<string>() };

/**
 * The jobs that match a query, page by page. A single page is read again at each change. With more pages, only changed
 * rows are read again, and other jobs are counted: nothing moves while a person reads, and a change costs no new
 * search.
 */
export function useJobs(query: string) {
  const readMore = readOn(query);
  const front: Source<Rows>['read'] = (_, signal, show) => readMore(undefined, signal, show);
  const resource = useReading<Rows>(`/api/jobs?${query}`, () => ({
    read: front,
    follow: (changed) => async (before, signal, show) => {
      if (!before || before.pages <= 1) return front(before, signal, show);
      const shown = changed.filter((id) => before.rows.some((row) => row.id === id)).slice(0, REREAD_AT_ONCE);
      const others = new Set([...before.others, ...changed.filter((id) => !shown.includes(id))]);
      const read = (id: string) => get<JobDetail>(`/api/jobs/${encodeURIComponent(id)}`, signal).catch(() => undefined);
      const news = await Promise.all(shown.map(read));
      return { ...before, rows: before.rows.map((row) => news.find((one) => one?.id === row.id) ?? row), others };
    },
  }));
  const data = resource.data ?? empty;
  return {
    ...resource,
    ...data,
    more: () => {
      if (!resource.isReading && data.cursor !== undefined) resource.extend(readMore);
    },
  };
}

/** Reads pages until there are enough new rows. */
function readOn(query: string): Source<Rows>['read'] {
  return async (before = empty, signal, show) => {
    let next = before;
    for (let page = 0; page < PAGES_AT_ONCE; page++) {
      const parameters = new URLSearchParams(query);
      if (next.cursor !== undefined) parameters.set('cursor', next.cursor);
      const { jobs, read, cursor } = await get<JobPage>(`/api/jobs?${parameters}`, signal);
      const known = new Set(next.rows.map(({ id }) => id));
      const rows = [...next.rows, ...jobs.filter(({ id }) => !known.has(id))];
      next = { ...next, rows, cursor, read: next.read + read, pages: next.pages + 1 };
      if (cursor === undefined || rows.length - before.rows.length >= ROWS_AT_ONCE) break;
      // Rows that are found early are shown early.
      if (before.pages > 0 || rows.length > 0 || next.pages > 1) show(next);
    }
    return next;
  };
}
