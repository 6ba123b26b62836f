import { CursorError, type FoundJobs, findJobs, type JobFilter } from '../lib/engine/operate/find-jobs.ts';
import { createShowJob } from '../lib/people/names.ts';
import { HttpError } from '../lib/state/http/function-url.ts';
import type { OperatedRelay } from './relay.ts';

/** The most rows of one answer. */
const ROWS = 50;
/** The most pages of the index for one answer. A search for a rare text takes several answers. */
const PAGES = 10;

/**
 * Returns a page of the jobs that match.
 * @throws {HttpError} if the cursor is not from such a page
 */
export async function findPage(
  { stores }: OperatedRelay,
  filter: JobFilter,
  cursor?: string,
  limit = ROWS,
): Promise<FoundJobs> {
  try {
    return await findJobs(stores.table, {
      filter,
      cursor,
      limit,
      maxPages: PAGES,
      now: stores.clock(),
      shown: createShowJob(stores),
    });
  } catch (error) {
    throw error instanceof CursorError ? new HttpError(400, error.message, { cause: error }) : error;
  }
}

/** Much longer than a name or an address, but short enough for a key of the table. */
const LONGEST_FIND = 500;

/**
 * Returns the text that the operator looks for; empty for everything.
 * @throws {HttpError} if the text is too long
 */
export function textToFind(params: URLSearchParams): string {
  const text = (params.get('find') ?? '').trim();
  if (text.length <= LONGEST_FIND) return text;
  throw new HttpError(400, `the text to find is longer than ${LONGEST_FIND} characters`);
}
