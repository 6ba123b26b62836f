import { createHash } from 'node:crypto';
import type { Result } from './answer.ts';

/** What one page means for reading the rest of the list. */
export interface PageRead {
  /** The page repeats an earlier one, so its rows must not be counted again. */
  repeats: boolean;
  /** This is the last page. */
  last: boolean;
  /** For a list without pagination: a fingerprint to compare with the next page. It is small enough for a journal. */
  fingerprint: string | null;
}

/**
 * The only place that decides when a list ends.
 *
 * Only some lists are documented to return a pagination object. With it, `last_page` decides, and a page with another
 * number than the requested one ends the list. Without it, a page with exactly the requested number of rows is followed
 * by the next page, until a page is short, empty or repeats the page before it. More rows than requested, or no page
 * size in the payload, mean that the list is not paged.
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
    return { repeats, last: repeats || pagination.last_page <= page, fingerprint: null };
  }
  if (!Array.isArray(data) || data.length !== sizeOf(payload)) return { repeats: false, last: true, fingerprint: null };
  const fingerprint = createHash('sha256').update(JSON.stringify(data)).digest('base64url').slice(0, 22);
  const repeats = fingerprint === before;
  return { repeats, last: repeats, fingerprint };
}

function sizeOf(payload: object): unknown {
  const { per_page, limit } = payload as { per_page?: unknown; limit?: unknown };
  return per_page ?? limit;
}
