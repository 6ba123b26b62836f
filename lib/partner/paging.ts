import { createHash } from 'node:crypto';
import type { Result } from './answer.ts';

/** What one page of a list means for its reading. */
export interface PageRead {
  /** The list did not advance: the page repeats an earlier one, so its rows must not be taken again. */
  repeats: boolean;
  /** There is nothing to read after it. */
  last: boolean;
  /** Of a list without pagination: tells this page from the next one. It is small enough for a journal. */
  fingerprint: string | null;
}

/**
 * The one rule of paging.
 *
 * With the documented pagination object, `last_page` decides, and a page that bears another number than was asked for
 * ends the reading. Only some lists are documented to have that object. Without it, a page with exactly as many rows as
 * were asked for is followed by the next page, until one is short or empty, or repeats the one before it. More rows
 * than were asked for, or no size in the payload, mean that the list is not paged.
 *
 * @param page the number that was asked for, from 1
 * @param payload of the call; the size of a page is its `per_page` or `limit`
 * @param before the fingerprint of the page before it, or null
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
