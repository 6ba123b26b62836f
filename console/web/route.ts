import { decoded, takeFromAddress } from './session.ts';
import { state } from './state.ts';

/** The current place in the console: `#/jobs/abc?status=parked`. */
export interface Route {
  /** `jobs` */
  screen: string;
  /** `abc` */
  id: string | undefined;
  query: URLSearchParams;
}

export const route = state<Route>({ screen: 'now', id: undefined, query: new URLSearchParams() });

/**
 * Follows the address. An address with a new token changes only the fragment of an open page. A fragment that names an
 * element, such as the skip link's, moves the focus; the address remains the screen's.
 */
export function startRouting(): void {
  let address = '';
  const follow = () => {
    takeFromAddress();
    const place = document.getElementById(decoded(location.hash.slice(1)));
    if (place) {
      place.focus();
      history.replaceState(null, '', address);
      return;
    }
    address = location.hash;
    route.value = readRoute(address);
  };
  addEventListener('hashchange', follow);
  follow();
}

let list = '#/jobs';

/** The last address of the list of jobs, with its filters. */
export const lastList = () => list;

function readRoute(hash: string): Route {
  const [, path = '', query = ''] = /^#?\/?([^?]*)\??(.*)$/s.exec(hash) ?? [];
  const [screen = '', id] = path.split('/').map(decoded);
  if (screen === 'jobs' && id === undefined) list = hash;
  return { screen: screen || 'now', id, query: new URLSearchParams(query) };
}

/** The address of a screen. Empty values are left out. */
export function href(screen: string, id?: string, query: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const path = ['#', screen, ...(id === undefined ? [] : [encodeURIComponent(id)])].join('/');
  return given.length > 0 ? `${path}?${new URLSearchParams(given)}` : path;
}

export function jobHref(id: string): string {
  return href('jobs', id);
}

/** Changes the address without a new history entry, such as while a person types a filter. */
export function replaceAddress(address: string): void {
  history.replaceState(null, '', address);
  route.value = readRoute(address);
}
