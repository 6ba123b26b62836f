import type { LiveChange } from '../requests.ts';
import { request } from './api.ts';
import { isRefused, token } from './session.ts';
import { state } from './state.ts';

/** `lost`: the stream ended, and the page tries again. `hidden`: the page is not visible, so the stream is closed. */
export const connection = state<'connecting' | 'live' | 'lost' | 'hidden'>('connecting');

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
const OPENS_WITHIN_MS = 200;
/** The server writes a line at least every 15 seconds. */
const DEAD_AFTER_MS = 40_000;

/** `all` after a gap in the stream, when anything may have changed. */
export type News = LiveChange | 'all';

const listeners = new Set<(news: News) => void>();

/** Listens to changes. @returns ends it */
export function onNews(listener: (news: News) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

const opening = Promise.withResolvers<void>();

/**
 * Resolves when the stream is open, or after a short wait: a stream that opens later makes the page read everything
 * again.
 */
export const opened = opening.promise;

/** True once the page may have read data. A stream that opens after that may have missed changes. */
let isRead = false;

/** Reads the stream of changes while the page is visible and has a token. */
export async function startLive(): Promise<void> {
  let stop = new AbortController();
  const begin = () => {
    stop.abort();
    if (token.value === undefined || isRefused.value) return;
    if (document.hidden) {
      connection.value = 'hidden';
      return;
    }
    stop = new AbortController();
    void readOn(stop.signal);
  };
  const settled = new Promise<void>((resolve) => {
    connection.subscribe(resolve);
    isRefused.subscribe(resolve);
    setTimeout(resolve, OPENS_WITHIN_MS);
  });
  token.subscribe(begin);
  isRefused.subscribe(begin);
  document.addEventListener('visibilitychange', begin);
  begin();
  await settled;
  isRead = true;
  opening.resolve();
}

async function readOn(signal: AbortSignal): Promise<void> {
  let pauseMs = FIRST_PAUSE_MS;
  while (!signal.aborted && !isRefused.value) {
    const dead = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const isAlive = () => {
      clearTimeout(timer);
      timer = setTimeout(() => dead.abort(), DEAD_AFTER_MS);
    };
    isAlive();
    try {
      const { body } = await request('/api/changes', { signal: AbortSignal.any([signal, dead.signal]) });
      connection.value = 'live';
      pauseMs = FIRST_PAUSE_MS;
      if (isRead) tell('all');
      if (body) await readLines(body, isAlive, (line) => tell(JSON.parse(line) as LiveChange));
    } catch {
      // The connection's state shows it, and the screen's own requests say why.
    }
    clearTimeout(timer);
    if (signal.aborted) return;
    connection.value = 'lost';
    await pause(pauseMs, signal);
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

async function readLines(
  body: ReadableStream<Uint8Array>,
  isAlive: () => void,
  take: (line: string) => void,
): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    isAlive();
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') take(line);
  }
}

function tell(news: News): void {
  for (const listener of listeners) listener(news);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
