import { useEffect, useMemo } from 'preact/hooks';
import type { JobDetail } from '../contract.ts';
import { type ApiError, get } from './api.ts';
import { type News, onNews, opened } from './live.ts';
import { type State, state, useValue } from './state.ts';

interface Answer<T> {
  /** The last answer. After an error, it is out of date. */
  data?: T;
  error?: ApiError | undefined;
  isReading: boolean;
}

export interface Resource<T> extends Answer<T> {
  reload(): void;
  /** Reads more, after all other readings, so that no reading begins with data that another is about to replace. */
  extend(step: Step<T>): void;
}

/** Continues reading after the shown data. Early results are shown early. */
type Step<T> = (before: T | undefined, signal: AbortSignal, show: (part: T) => void) => Promise<T>;

/** Something that is read, and read again at changes. */
export interface Source<T> {
  read: Step<T>;
  /** Reads only the changes, from the ids of the changed jobs. By default, everything is read again. */
  follow?: (changed: readonly string[]) => Step<T>;
  /** Whether a change affects this source. By default, every change does. */
  concerns?: (news: News) => boolean;
}

interface Shared extends Pick<Resource<unknown>, 'reload' | 'extend'> {
  answer: State<Answer<unknown>>;
  /** Keeps the answer up to date while it is used. @returns ends the use */
  use(): () => void;
  forget(): void;
}

const RETRY_MS = 3_000;
/** A screen is up to date within a second, but reads no more often than this. */
const LEAST_GAP_MS = 700;
const KEPT = 30;
/** By key. Several parts of a screen share one answer, and a person who goes back sees the last answer at once. */
const resources = new Map<string, Shared>();

/** Reads a path of the API. @param path undefined to read nothing */
export function useResource<T>(path: string | undefined, concerns?: (news: News) => boolean): Resource<T> {
  return useReading<T>(path, () => ({
    read: (_, signal) => get(path ?? '', signal),
    ...(concerns && { concerns }),
  }));
}

/** A job, read again when it changes. @param isWanted false to read nothing */
export function useJob(id: string, isWanted = true): Resource<JobDetail> {
  const path = isWanted ? `/api/jobs/${encodeURIComponent(id)}` : undefined;
  return useResource(path, (news) => news !== 'all' && 'jobs' in news && news.jobs.includes(id));
}

/** Reads a source, and shares the answer by its key. @param key undefined to read nothing */
export function useReading<T>(key: string | undefined, source: () => Source<T>): Resource<T> {
  const shared = useMemo(() => (key === undefined ? nothing : kept(key, source as () => Source<unknown>)), [key]);
  useEffect(() => shared.use(), [shared]);
  return { ...useValue(shared.answer), reload: shared.reload, extend: shared.extend } as Resource<T>;
}

const nothing: Shared = {
  answer: state<Answer<unknown>>({ isReading: false }),
  reload: () => {},
  extend: () => {},
  use: () => () => {},
  forget: () => {},
};

function kept(key: string, source: () => Source<unknown>): Shared {
  const found = resources.get(key) ?? share(source());
  resources.delete(key);
  resources.set(key, found);
  const [oldest] = resources;
  if (resources.size > KEPT && oldest) {
    oldest[1].forget();
    resources.delete(oldest[0]);
  }
  return found;
}

function share<T>({ read, follow, concerns = () => true }: Source<T>): Shared {
  const answer = state<Answer<T>>({ isReading: true });
  const changed = new Set<string>();
  let isWhole = true;
  let users = 0;
  let stop = new AbortController();
  let isUpdating = false;
  let turn: Promise<void> = opened;

  const inTurn = (step: Step<T>) => {
    turn = turn.then(async () => {
      const { signal } = stop;
      const show = (data: T, isReading = true) => {
        if (!signal.aborted) answer.value = { data, isReading };
      };
      try {
        signal.throwIfAborted();
        show(await step(answer.value.data, signal, show), false);
      } catch (error) {
        if (signal.aborted) {
          isWhole = true;
          return;
        }
        answer.value = { ...answer.value, error: error as ApiError, isReading: false };
        if (mayPass(error as ApiError)) setTimeout(reload, RETRY_MS);
      }
    });
    return turn;
  };
  /** Runs one reading at a time, and another one if something changes meanwhile. */
  const update = async () => {
    if (isUpdating) return;
    isUpdating = true;
    while (users > 0 && (isWhole || changed.size > 0)) {
      const step = isWhole || !follow ? read : follow([...changed]);
      isWhole = false;
      changed.clear();
      await inTurn(step);
      await new Promise((resolve) => setTimeout(resolve, LEAST_GAP_MS));
    }
    isUpdating = false;
  };
  const reload = () => {
    isWhole = true;
    void update();
  };
  const forget = onNews((news) => {
    if (news !== 'all' && !concerns(news)) return;
    if (follow && news !== 'all' && 'jobs' in news) for (const id of news.jobs) changed.add(id);
    else if (!follow || news === 'all') isWhole = true;
    void update();
  });
  return {
    answer: answer as State<Answer<unknown>>,
    reload,
    extend(step) {
      answer.value = { ...answer.value, isReading: true };
      void inTurn(step as Step<T>);
    },
    use() {
      users += 1;
      if (users === 1) {
        stop = new AbortController();
        if (!follow) isWhole = true;
        void update();
      }
      return () => {
        users -= 1;
        if (users === 0) stop.abort();
      };
    },
    forget,
  };
}

/** Whether the same request may work later: there was no answer, or the relay itself failed. */
const mayPass = ({ status }: ApiError) => status === undefined || status >= 500;
