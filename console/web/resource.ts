import { useEffect, useRef, useState } from 'preact/hooks';
import { type ApiError, get } from './api.ts';
import { type News, onNews } from './live.ts';
import { paced } from './paced.ts';

export interface Resource<T> {
  /** The last answer. After an error it is an old one. */
  data?: T;
  error?: ApiError;
  reload(): void;
}

const RETRY_MS = 3_000;
const KEPT_ANSWERS = 30;
/** Answers by path, so that going back shows the last one at once. */
const answers = new Map<string, unknown>();

/**
 * What a path of the API answers, read again when the stream of changes says so.
 *
 * @param path undefined for nothing
 * @param concerns whether a change concerns the answer
 */
export function useResource<T>(path: string | undefined, concerns: (news: News) => boolean = () => true): Resource<T> {
  const [state, setState] = useState<{ path?: string; data?: T; error?: ApiError }>({});
  const reload = useRef(() => {});
  const isConcerned = useRef(concerns);
  isConcerned.current = concerns;

  useEffect(() => {
    if (path === undefined) return;
    const stop = new AbortController();
    let retry: ReturnType<typeof setTimeout> | undefined;
    const read = paced(async () => {
      clearTimeout(retry);
      try {
        const data = await get<T>(path, stop.signal);
        keep(path, data);
        setState({ path, data });
      } catch (error) {
        if (stop.signal.aborted) return;
        const { data } = kept<T>(path);
        setState({ path, ...(data !== undefined && { data }), error: error as ApiError });
        if (mayPass(error as ApiError)) retry = setTimeout(read, RETRY_MS);
      }
    });
    read();
    reload.current = read;
    const end = onNews((news) => {
      if (news === 'all' || isConcerned.current(news)) read();
    });
    return () => {
      end();
      read.stop();
      stop.abort();
      clearTimeout(retry);
    };
  }, [path]);

  const shown = state.path === path || path === undefined ? state : kept<T>(path);
  return { ...shown, reload: () => reload.current() };
}

/** No answer, or a failure of the relay itself: the same request may work later. */
const mayPass = ({ status }: ApiError) => status === undefined || status >= 500;

function keep(path: string, data: unknown): void {
  answers.delete(path);
  answers.set(path, data);
  const [oldest] = answers.keys();
  if (answers.size > KEPT_ANSWERS && oldest !== undefined) answers.delete(oldest);
}

function kept<T>(path: string): { data?: T } {
  return answers.has(path) ? { data: answers.get(path) as T } : {};
}
