import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { LinkPage, LinkRow } from '../contract.ts';
import { type ApiError, get } from './api.ts';
import { Failure } from './failure.tsx';
import { Icon } from './icons.tsx';

const TYPING_PAUSE_MS = 250;

interface FoundLinksProps {
  /** Another number reads the list again. */
  version: number;
  children: (links: readonly LinkRow[]) => ComponentChildren;
}

/** The links of issues with a search field, page by page. */
export function FoundLinks({ version, children }: FoundLinksProps) {
  const [find, setFind] = useState('');
  const [rows, setRows] = useState<readonly LinkRow[] | undefined>();
  const [cursor, setCursor] = useState<string | undefined>();
  const [error, setError] = useState<ApiError | undefined>();
  const [attempt, setAttempt] = useState(0);
  const [isReading, setReading] = useState(true);
  /** Ends what is read of this list when another one is wanted. */
  const stop = useRef(new AbortController());

  async function read(from?: string): Promise<void> {
    const { signal } = stop.current;
    setReading(true);
    const query = new URLSearchParams({ ...(find && { find }), ...(from !== undefined && { cursor: from }) });
    try {
      const page = await get<LinkPage>(`/api/links?${query}`, signal);
      setRows((before) => (from === undefined ? page.links : [...(before ?? []), ...page.links]));
      setCursor(page.cursor);
      setError(undefined);
    } catch (caught) {
      if (!signal.aborted) setError(caught as ApiError);
    }
    if (!signal.aborted) setReading(false);
  }

  useEffect(() => {
    stop.current = new AbortController();
    const timer = setTimeout(() => void read(), find === '' ? 0 : TYPING_PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.current.abort();
    };
  }, [find, attempt, version]);

  return (
    <>
      <div class="search">
        <Icon name="search" />
        <input
          type="search"
          aria-label="Find an issue"
          placeholder="acme/web#42"
          value={find}
          data-filter=""
          onInput={({ currentTarget }) => setFind(currentTarget.value.trim())}
        />
      </div>
      {error && <Failure error={error} retry={() => setAttempt(attempt + 1)} />}
      {rows === undefined && !error && <p class="loading">Loading…</p>}
      {rows?.length === 0 && <p class="soft">{find === '' ? 'There is nothing yet.' : 'Nothing matches.'}</p>}
      {rows && rows.length > 0 && children(rows)}
      {cursor !== undefined && (
        <button type="button" disabled={isReading} onClick={() => void read(cursor)}>
          Show more
        </button>
      )}
    </>
  );
}
