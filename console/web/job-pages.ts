import { useEffect, useRef, useState } from 'preact/hooks';
import type { JobDetail, JobPage, JobRow } from '../contract.ts';
import { type ApiError, get } from './api.ts';
import { onNews, opened } from './live.ts';
import { paced } from './paced.ts';

export interface JobPages {
  rows: readonly JobRow[];
  /** How many jobs were read for them. */
  read: number;
  /** True if there may be more. */
  hasMore: boolean;
  isLoading: boolean;
  /** How many jobs outside of `rows` have changed since they were read. */
  others: number;
  error?: ApiError;
  more(): void;
  reload(): void;
}

interface JobPagesState {
  query: string;
  rows: readonly JobRow[];
  cursor?: string | undefined;
  read: number;
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

/** The last list, so that going back shows it as it was. */
let last: JobPagesState | undefined;

const empty = (query: string): JobPagesState => ({
  query,
  rows: [],
  read: 0,
  pages: 0,
  isLoading: true,
  others: new Set(),
});

/**
 * The jobs that match a query, page by page. The first page follows every change. If more pages were searched, their rows
 * follow, and other jobs are only counted: nothing moves while a person reads, and no change costs another search.
 */
export function useJobPages(query: string): JobPages {
  const [state, setState] = useState<JobPagesState>(() => (last?.query === query ? last : empty(query)));
  const current = useRef(state);
  const calls = useRef({ more: () => {}, reload: () => {} });

  useEffect(() => {
    const stop = new AbortController();
    const show = (next: JobPagesState) => {
      if (stop.signal.aborted) return;
      current.current = next;
      last = next;
      setState(next);
    };
    const failed = (error: unknown) => {
      if (!stop.signal.aborted) show({ ...current.current, isLoading: false, error: error as ApiError });
    };
    /** Reads on from a state until there are enough new rows. */
    const readOn = async (from: JobPagesState) => {
      await opened;
      let next = from;
      for (let page = 0; page < PAGES_AT_ONCE; page++) {
        const { jobs, cursor, read } = await get<JobPage>(pathOf(query, next.cursor), stop.signal);
        next = {
          ...next,
          rows: [...next.rows, ...jobs.filter(({ id }) => !next.rows.some((row) => row.id === id))],
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

    const refresh = paced(async () => {
      await readOn(empty(query)).catch(failed);
    });
    const changed = new Set<string>();
    const follow = paced(async () => {
      const { rows, pages } = current.current;
      if (pages <= 1) {
        changed.clear();
        await readOn(empty(query)).catch(failed);
        return;
      }
      const shown = [...changed].filter((id) => rows.some((row) => row.id === id)).slice(0, REREAD_AT_ONCE);
      const others = new Set([...current.current.others, ...[...changed].filter((id) => !shown.includes(id))]);
      changed.clear();
      const news = await Promise.all(
        shown.map((id) => get<JobDetail>(`/api/jobs/${encodeURIComponent(id)}`, stop.signal).catch(() => undefined)),
      );
      show({
        ...current.current,
        rows: current.current.rows.map((row) => news.find((one) => one?.id === row.id) ?? row),
        others,
      });
    });
    calls.current = {
      more: () => {
        if (current.current.isLoading || current.current.cursor === undefined) return;
        show({ ...current.current, isLoading: true });
        readOn(current.current).catch(failed);
      },
      reload: refresh,
    };
    if (current.current.query === query && current.current.pages > 0) {
      setState(current.current);
      follow();
    } else {
      current.current = empty(query);
      setState(current.current);
      refresh();
    }
    const end = onNews((news) => {
      if (news === 'all') return refresh();
      if (!('jobs' in news)) return;
      for (const id of news.jobs) changed.add(id);
      follow();
    });
    return () => {
      end();
      stop.abort();
      refresh.stop();
      follow.stop();
    };
  }, [query]);

  const shown = state.query === query ? state : empty(query);
  return {
    rows: shown.rows,
    read: shown.read,
    hasMore: shown.cursor !== undefined,
    isLoading: shown.isLoading,
    others: shown.others.size,
    ...(shown.error && { error: shown.error }),
    more: () => calls.current.more(),
    reload: () => calls.current.reload(),
  };
}

function pathOf(query: string, cursor: string | undefined): string {
  const parameters = new URLSearchParams(query);
  if (cursor !== undefined) parameters.set('cursor', cursor);
  const text = parameters.toString();
  return text === '' ? '/api/jobs' : `/api/jobs?${text}`;
}
