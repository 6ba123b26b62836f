import type { ComponentChildren } from 'preact';
import { copy } from './notice.tsx';
import { seen } from './outside.tsx';
import { useRelay } from './relay-facts.tsx';

/** An id. A click copies the whole id, and a double click selects the shown part. */
export function Id({ id, shown = id }: { id: string; shown?: string }) {
  return (
    <button
      type="button"
      class="id"
      title={`Copy ${seen(id)}`}
      onClick={() => copy(id, 'id', `Copied: ${seen(id)}`)}
      onDblClick={({ currentTarget }) => getSelection()?.selectAllChildren(currentTarget)}
    >
      <code>{seen(shown)}</code>
    </button>
  );
}

/** A link to a page outside the console, or beside it. */
export function Out({ to, children }: { to: string; children: ComponentChildren }) {
  return (
    <a href={to} target="_blank" rel="noreferrer">
      {children}
    </a>
  );
}

/** An id of the service, linked to its page if that is known. */
export function ServiceId({ id, page }: { id: string; page: string | undefined }) {
  if (page === undefined) return <Id id={id} />;
  return (
    <Out to={page}>
      <code>{seen(id)}</code>
    </Out>
  );
}

/** Returns the service's page for a value, if it is the id of something with a page. */
export type PageOf = (name: string, value: unknown) => string | undefined;

/** @param calls the operation that `id` belongs to: `defects/create` */
export function usePages(connection: string | undefined, calls = ''): PageOf {
  const web = useRelay().web[connection ?? ''];
  return (name, value) => {
    const field = name.replace(/_?id$/i, 's').replace(/_./, (start) => start.slice(1).toUpperCase());
    return web?.[name === 'id' ? calls.replace('/create', '') : field]?.replace('{id}', encodeURIComponent(`${value}`));
  };
}
