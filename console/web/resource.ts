import { useEffect, useMemo } from 'preact/hooks';
import type { JobDetail } from '../contract.ts';
import { type ApiError, get } from './api.ts';
import { type News, onNews, opened } from './live.ts';
import { paced } from './paced.ts';
import { type State, state, useValue } from './state.ts';

interface LastAnswer<T> {
  /** The last answer. After an error it is an old one. */
  data?: T;
  error?: ApiError;
}

export interface Resource<T> extends LastAnswer<T> {
  reload(): void;
}

interface Shared {
  answer: State<LastAnswer<unknown>>;
  reload(): void;
  /** Reads it while it is used. @returns what ends the use */
  use(): () => void;
}

const RETRY_MS = 3_000;
const KEPT = 30;
/** By path. Several parts of a screen share one answer, and going back shows the last one at once. */
const resources = new Map<string, Shared>();
const nothing = share(undefined, () => false);

/**
 * What a path of the API answers, read again when the stream of changes says so.
 *
 * @param path undefined for nothing
 * @param concerns whether a change concerns the answer
 */
export function useResource<T>(path: string | undefined, concerns: (news: News) => boolean = () => true): Resource<T> {
  const shared = useMemo(() => (path === undefined ? nothing : kept(path, concerns)), [path]);
  useEffect(() => shared.use(), [shared]);
  return { ...(useValue(shared.answer) as LastAnswer<T>), reload: shared.reload };
}

/** A job, read again when it changes. @param isWanted false for nothing */
export function useJob(id: string, isWanted = true): Resource<JobDetail> {
  const path = isWanted ? `/api/jobs/${encodeURIComponent(id)}` : undefined;
  return useResource(path, (news) => news === 'all' || ('jobs' in news && news.jobs.includes(id)));
}

function kept(path: string, concerns: (news: News) => boolean): Shared {
  const found = resources.get(path) ?? share(path, concerns);
  resources.delete(path);
  resources.set(path, found);
  const [oldest] = resources.keys();
  if (resources.size > KEPT && oldest !== undefined) resources.delete(oldest);
  return found;
}

function share(path: string | undefined, concerns: (news: News) => boolean): Shared {
  const answer = state<LastAnswer<unknown>>({});
  let users = 0;
  let retry: ReturnType<typeof setTimeout> | undefined;
  const reload = paced(async () => {
    clearTimeout(retry);
    if (users === 0 || path === undefined) return;
    try {
      await opened;
      answer.value = { data: await get(path) };
    } catch (error) {
      answer.value = { ...answer.value, error: error as ApiError };
      if (mayPass(error as ApiError)) retry = setTimeout(reload, RETRY_MS);
    }
  });
  let end = () => {};
  return {
    answer,
    reload,
    use() {
      users += 1;
      if (users === 1) {
        reload();
        end = onNews((news) => {
          if (news === 'all' || concerns(news)) reload();
        });
      }
      return () => {
        users -= 1;
        if (users === 0) end();
      };
    },
  };
}

/** No answer, or a failure of the relay itself: the same request may work later. */
const mayPass = ({ status }: ApiError) => status === undefined || status >= 500;
