import { createHash } from 'node:crypto';
import type * as z from 'zod';
import type { Result } from './answer.ts';
import type { PartnerClient } from './client.ts';
import { PartnerRefusal } from './errors.ts';
import type { Operation } from './operation.ts';

/** The largest page that a connection is known to take. */
export interface PageSizes {
  pageSize(): Promise<number>;
  keepPageSize(size: number): Promise<void>;
}

/**
 * The pages of a list to its end (see {@link readPage}). Each page is the result of one call. The generator returns whether every
 * row of the list has arrived.
 *
 * @param call makes one call: an automation's, so that each page takes a slot, or a client's
 * @param maxPages the most pages to read
 */
export async function* pages<P extends z.ZodType, D extends z.ZodType>(
  call: PartnerClient['call'],
  operation: Operation<P, D>,
  payload: z.input<P>,
  maxPages = Number.POSITIVE_INFINITY,
  sizes?: PageSizes,
): AsyncGenerator<Result<z.output<D>>, boolean> {
  let before: string | null = null;
  const known = (await sizes?.pageSize()) ?? PAGE_SIZE;
  let largest = known;
  for (let page = 1; page <= maxPages; page++) {
    const asked = { ...(payload as object), page };
    const how = { largest, isFirst: page === 1, mayEnd: before !== null };
    const { result, size } = await askForPage(operation, asked, how, (all) => call(operation, all as z.input<P>));
    largest = size;
    if (size !== known && page === 1) await sizes?.keepPageSize(size);
    const read = readPage(operation, page, result, before);
    if (result && !read.repeats) yield result;
    if (read.last) return read.whole;
    before = read.fingerprint;
  }
  return false;
}

/** The rows of all pages, and whether they are all of the list. */
export async function rowsOf<Row>(
  reading: AsyncGenerator<Result<Row[]>, boolean>,
): Promise<{ rows: Row[]; isWhole: boolean }> {
  const rows: Row[] = [];
  for (;;) {
    const page = await reading.next();
    if (page.done) return { rows, isWhole: page.value };
    rows.push(...page.value.data);
  }
}

/** The largest page is not shown (docs/partner-api.md#pagination). Assumed: 100 rows, or fewer if that is refused. */
const PAGE_SIZES = [100, 50, 25, 10];
export const PAGE_SIZE = 100;

/**
 * Asks for a page, and for smaller ones as long as the service may refuse the size.
 *
 * @param largest the size to begin with
 * @param isFirst whether the size can still change: the pages of one reading have the same
 * @param mayEnd whether the last page may have been the last, so that a refusal may mean that there are no more
 * @param payload a page size in it is kept
 * @returns no result if there may be no such page
 * @throws the first refusal, if the service refuses every size
 */
export async function askForPage<R>(
  { pageSize = 'per_page' }: Operation,
  payload: object,
  { largest, isFirst, mayEnd }: { largest: number; isFirst: boolean; mayEnd: boolean },
  call: (payload: object) => Promise<R>,
): Promise<{ result: R | undefined; size: number }> {
  const mayShrink = isFirst && !(pageSize in payload);
  let refusal: unknown;
  for (const size of [largest, ...PAGE_SIZES.filter((size) => mayShrink && size < largest)]) {
    try {
      return { result: await call({ [pageSize]: size, ...payload }), size };
    } catch (error) {
      if (mayEnd && isRefused(error, [400, 404, 422])) return { result: undefined, size };
      if (!isAboutSize(error)) throw error;
      refusal ??= error;
    }
  }
  throw refusal;
}

/** Of an error of the client, or of a run, which has it as its cause. */
function refusalIn(error: unknown): PartnerRefusal | undefined {
  const refusal = error instanceof Error && !(error instanceof PartnerRefusal) ? error.cause : error;
  return refusal instanceof PartnerRefusal ? refusal : undefined;
}

const isRefused = (error: unknown, statuses: readonly number[]) => statuses.includes(refusalIn(error)?.status ?? 0);

/** The fields of error bodies are not shown. A refusal that names only other fields is not about the size. */
function isAboutSize(error: unknown): boolean {
  if (!isRefused(error, [400, 422])) return false;
  const { fieldErrors = [] } = refusalIn(error) ?? {};
  return fieldErrors.length === 0 || fieldErrors.some((line) => /page|limit|size/i.test(line));
}

/** What one page means for reading the rest of the list. */
export interface PageRead {
  /** The page repeats an earlier one or is not there, so it has no rows that count. */
  repeats: boolean;
  last: boolean;
  /** Of the last page: every row of the list has arrived. False if that cannot be told. */
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
 * Without it, the service may have smaller pages than requested, so no first page with rows ends a list: the next one is
 * requested. A page that is empty, or shorter than the one before, is the end. A page that is the same as the one before
 * shows that the service ignores `page`: then nothing tells whether it cuts the list off, unless an override says that
 * the list is not paged. A refused page ends the list, and does not show either whether it is whole.
 *
 * @param page the requested page number, from 1
 * @param before the fingerprint of the previous page, or null
 */
export function readPage(
  { paged }: Operation,
  page: number,
  result: Result<unknown> | undefined,
  before: string | null,
): PageRead {
  if (!result) return { repeats: true, last: true, whole: false, fingerprint: null };
  const { data, pagination } = result;
  const rows = Array.isArray(data) ? data.length : 0;
  if (pagination) {
    const repeats = page > 1 && pagination.current_page !== page;
    const last = repeats || pagination.last_page <= page;
    const hasMore = page === 1 && (pagination.total ?? 0) > rows;
    return { repeats, last, whole: last && !repeats && !hasMore, fingerprint: null };
  }
  if (!paged || rows === 0 || (before !== null && rows < Number.parseInt(before, 10)))
    return { repeats: false, last: true, whole: true, fingerprint: null };
  const hash = createHash('sha256').update(JSON.stringify(data)).digest('base64url').slice(0, 22);
  const fingerprint = `${rows} ${hash}`;
  const repeats = fingerprint === before;
  return { repeats, last: repeats, whole: false, fingerprint };
}
