import { useEffect, useRef, useState } from 'preact/hooks';
import type { JobDetail, JobPage, JobRow, LinkPage, LinkRow } from '../contract.ts';
import { type ApiError, get } from './api.ts';
import { onNews, opened } from './live.ts';
import { paced } from './paced.ts';

/** A list of the API that is read page by page. */
interface Listed<Row> {
  page(query: string, cursor: string | undefined, signal: AbortSignal): Promise<Page<Row>>;
  idOf(row: Row): string;
  /** Reads one row again. Without it, changes of jobs do not concern the list. */
  row?: (id: string, signal: AbortSignal) => Promise<Row>;
}

interface Page<Row> {
  rows: readonly Row[];
  cursor: string | undefined;
  /** How many were read for the rows. */
  read: number;
}

export interface List<Row> {
  rows: readonly Row[];
  /** How many were read for them. */
  read: number;
  /** True if there may be more. */
  hasMore: boolean;
  isLoading: boolean;
  /** How many others than `rows` have changed since they were read. */
  others: number;
  error?: ApiError | undefined;
  more(): void;
  reload(): void;
}

interface ListState<Row> extends Page<Row> {
  of: Listed<Row>;
  query: string;
  /** How many pages were searched. */
  pages: number;
  isLoading: boolean;
  others: ReadonlySet<string>;
  error?: ApiError | undefined;
}

/** For a rare match, this many pages are searched before the operator is asked whether to go on. */
const PAGES_AT_ONCE = 8;
const ROWS_AT_ONCE = 20;
/** Changed rows that are read again one by one. */
const REREAD_AT_ONCE = 10;

export const jobList: Listed<JobRow> = {
  async page(query, cursor, signal) {
    const { jobs: rows, read, ...page } = await get<JobPage>(pathOf('/api/jobs', query, cursor), signal);
    return { rows, read, cursor: page.cursor };
  },
  idOf: ({ id }) => id,
  row: (id, signal) => get<JobDetail>(`/api/jobs/${encodeURIComponent(id)}`, signal),
};

export const linkList: Listed<LinkRow> = {
  async page(query, cursor, signal) {
    const { links: rows, ...page } = await get<LinkPage>(pathOf('/api/links', query, cursor), signal);
    return { rows, read: rows.length, cursor: page.cursor };
  },
  idOf: ({ entity }) => entity,
};

function pathOf(path: string, query: string, cursor: string | undefined): string {
  const parameters = new URLSearchParams(query);
  if (cursor !== undefined) parameters.set('cursor', cursor);
  return `${path}?${parameters}`;
}

/** The last list, so that going back shows it as it was. */
let last: object | undefined;

/**
 * The rows that match a query, page by page. The first page follows every change. If more pages were searched, their rows
 * follow, and others are only counted: nothing moves while a person reads, and no change costs another search.
 */
export function useList<Row>(of: Listed<Row>, query: string): List<Row> {
  const empty: ListState<Row> = {
    ...{ of, query, rows: [], cursor: undefined, read: 0, pages: 0 },
    ...{ isLoading: true, others: new Set<string>() },
  };
  const isWanted = (state: object | undefined): state is ListState<Row> =>
    state !== undefined && 'of' in state && state.of === of && 'query' in state && state.query === query;
  const [state, setState] = useState<ListState<Row>>(isWanted(last) ? last : empty);
  const calls = useRef({ more: () => {}, reload: () => {} });

  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    let current = isWanted(last) ? last : empty;
    const show = (next: ListState<Row>) => {
      if (signal.aborted) return;
      current = next;
      last = next;
      setState(next);
    };
    /** Reads on from a state until there are enough new rows. */
    const readOn = async (from: ListState<Row>) => {
      let next = from;
      for (let page = 0; page < PAGES_AT_ONCE; page++) {
        const { rows, cursor, read } = await of.page(query, next.cursor, signal);
        const known = new Set(next.rows.map(of.idOf));
        next = {
          ...next,
          rows: [...next.rows, ...rows.filter((row) => !known.has(of.idOf(row)))],
          cursor,
          read: next.read + read,
          pages: next.pages + 1,
          error: undefined,
        };
        if (cursor === undefined || next.rows.length - from.rows.length >= ROWS_AT_ONCE) break;
        // Rows that are found early are shown early.
        if (from.pages > 0 || next.rows.length > 0 || next.pages > 1) show({ ...next, isLoading: true });
      }
      show({ ...next, isLoading: false });
    };
    const changed = new Set<string>();
    const readChanged = async () => {
      const { rows, pages } = current;
      const ids = [...changed];
      changed.clear();
      if (pages <= 1) return readOn(empty);
      const shown = ids.filter((id) => rows.some((row) => of.idOf(row) === id)).slice(0, REREAD_AT_ONCE);
      const others = new Set([...current.others, ...ids.filter((id) => !shown.includes(id))]);
      const news = await Promise.all(shown.map((id) => of.row?.(id, signal).catch(() => undefined)));
      const newest = new Map(news.flatMap((row) => (row ? [[of.idOf(row), row] as const] : [])));
      show({ ...current, rows: rows.map((row) => newest.get(of.idOf(row)) ?? row), others });
    };

    /** One reading after the other: none begins with rows that another is about to replace. */
    let turn: Promise<void> = opened;
    const inTurn = (read: () => Promise<void>) => {
      turn = turn.then(read).catch((error) => show({ ...current, isLoading: false, error: error as ApiError }));
      return turn;
    };
    const refresh = paced(() => inTurn(() => readOn(empty)));
    const follow = paced(() => inTurn(readChanged));
    calls.current = {
      more: () => {
        if (current.isLoading || current.cursor === undefined) return;
        show({ ...current, isLoading: true });
        void inTurn(() => readOn(current));
      },
      reload: refresh,
    };
    setState(current);
    if (current.pages > 0 && of.row) follow();
    else refresh();
    const end = onNews((news) => {
      if (news === 'all') return refresh();
      if (!of.row || !('jobs' in news)) return;
      for (const id of news.jobs) changed.add(id);
      follow();
    });
    return () => {
      end();
      stop.abort();
      refresh.stop();
      follow.stop();
    };
  }, [of, query]);

  const { rows, read, cursor, isLoading, others, error } = isWanted(state) ? state : empty;
  return {
    ...{ rows, read, isLoading, error },
    hasMore: cursor !== undefined,
    others: others.size,
    more: () => calls.current.more(),
    reload: () => calls.current.reload(),
  };
}
