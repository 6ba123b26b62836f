import { createHash } from 'node:crypto';
import type { Result } from './answer.ts';

/** What one page means for reading the rest of the list. */
export interface PageRead {
  /** The page repeats an earlier one, so its rows must not be counted again. */
  repeats: boolean;
  /** This is the last page. */
  last: boolean;
  /** Of the last page: every row of the list has arrived. */
  whole: boolean;
  /** For a list without pagination: what the next page is compared with. It is small enough for a journal. */
  fingerprint: string | null;
}

/**
 * The only place that decides when a list ends.
 *
 * Only some lists are documented to return a pagination object. With it, `last_page` decides, and a page with another
 * number than the requested one ends the list.
 *
 * Without it, the service may have smaller pages than requested, so a short page alone does not end a list: the next one
 * is requested. The list ends with a page that is empty, shorter than the one before, or the same as the one before.
 * More rows than requested, or no page size in the payload, mean that the list is not paged.
 *
 * @param page the requested page number, from 1
 * @param payload the call's payload; its `per_page` or `limit` is the page size
 * @param before the fingerprint of the previous page, or null
 */
export function readPage(
  page: number,
  payload: object,
  { data, pagination }: Result<unknown>,
  before: string | null,
): PageRead {
  if (pagination) {
    const repeats = page > 1 && pagination.current_page !== page;
    const last = repeats || pagination.last_page <= page;
    return { repeats, last, whole: last && !repeats, fingerprint: null };
  }
  const ended = { repeats: false, last: true, whole: true, fingerprint: null };
  const size = sizeOf(payload);
  if (!Array.isArray(data) || typeof size !== 'number' || data.length === 0 || data.length > size) return ended;
  if (before !== null && data.length < Number.parseInt(before, 10)) return ended;
  const hash = createHash('sha256').update(JSON.stringify(data)).digest('base64url').slice(0, 22);
  const fingerprint = `${data.length} ${hash}`;
  const repeats = fingerprint === before;
  // The service does not page this list. If the page is full, it may have cut off the rest.
  return { repeats, last: repeats, whole: repeats && data.length < size, fingerprint };
}

function sizeOf(payload: object): unknown {
  const { per_page, limit } = payload as { per_page?: unknown; limit?: unknown };
  return per_page ?? limit;
}
