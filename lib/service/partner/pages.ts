import { createHash } from 'node:crypto';
import type * as z from 'zod';
import type { Result } from './answer.ts';
import type { PartnerClient } from './client.ts';
import { PartnerRefusal } from './errors.ts';
import type { Operation } from './operation.ts';

/** The largest page is not shown (docs/partner-api.md#pagination). Assumed: 100 rows, or fewer if that is refused. */
const PAGE_SIZES = [100, 50, 25, 10];
export const PAGE_SIZE = 100;

/** The way in which the pages of a connection are requested. */
export interface Paging {
  /** The largest page size that the service accepts. */
  size: number;
  /** The number of the first page, once an answer has shown it. Not documented; assumed: 1. */
  first?: 0 | 1 | undefined;
}

export interface KnownPaging {
  paging(): Promise<Paging>;
  keepPaging(paging: Paging): Promise<void>;
}

/** The consequences of one page for reading the rest of the list. Small enough for a journal. */
export interface PageRead {
  /** True if the page repeats an earlier one or does not exist, so that its rows do not count. */
  repeats: boolean;
  last: boolean;
  /** True if every row of the list has arrived. Known only at the last page; false if it is unknown. */
  whole: boolean;
  /** For a list without pagination: a digest of the page, to compare with the next page. */
  fingerprint: string | null;
  paging: Paging;
}

/**
 * Yields the pages of a list to its end (see {@link readPage}), each the result of one call. Returns whether every row
 * of the list has arrived.
 *
 * @param call makes one call: an automation's, so that each page takes a slot, or a client's
 * @param maxPages the maximum number of pages to read
 */
export async function* pages<P extends z.ZodType, D extends z.ZodType>(
  call: PartnerClient['call'],
  operation: Operation<P, D>,
  payload: z.input<P>,
  maxPages = Number.POSITIVE_INFINITY,
  known?: KnownPaging,
): AsyncGenerator<Result<z.output<D>>, boolean> {
  let before: PageRead | undefined;
  for (let count = 0; count < maxPages; count++) {
    const ask = (asked: object) => call(operation, asked as z.input<P>);
    const { result, read } = await askForPage(operation, payload as object, count, before, ask, known);
    if (result && !read.repeats) yield result;
    if (read.last) return read.whole;
    before = read;
  }
  return false;
}

/** Returns the rows of all pages, and whether they are the whole list. */
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

type Ask<R> = (payload: object) => Promise<R>;

/**
 * Requests a page, and reads its consequences for the rest of the list.
 *
 * @param count the number of earlier pages
 * @param before the consequences of the last page
 * @returns no result if the page may not exist
 */
export async function askForPage<R extends Result<unknown>>(
  operation: Operation,
  payload: object,
  count: number,
  before: Pick<PageRead, 'fingerprint' | 'paging'> | undefined,
  ask: Ask<R>,
  known?: KnownPaging,
): Promise<{ result: R | undefined; read: PageRead }> {
  if (!before) {
    const first = await askForFirst(operation, payload, ask, await known?.paging());
    if (first.isNew) await known?.keepPaging(first.paging);
    return { result: first.result, read: readPage(operation, 0, first.paging, first.result, null) };
  }
  const { paging, fingerprint } = before;
  const asked = { [sizeField(operation)]: paging.size, ...payload, page: (paging.first ?? 1) + count };
  // Without pagination, the page may not exist.
  const result = await (fingerprint === null ? ask(asked) : ask(asked).catch(unlessRefused));
  return { result, read: readPage(operation, count, paging, result, fingerprint) };
}

/**
 * Requests the first page. As long as the service may refuse the size, requests smaller ones.
 *
 * @throws the first refusal, if the service refuses every size
 */
export async function askForFirst<R extends Result<unknown>>(
  operation: Operation,
  payload: object,
  ask: Ask<R>,
  known: Paging = { size: PAGE_SIZE },
): Promise<{ result: R; paging: Paging; isNew: boolean }> {
  const field = sizeField(operation);
  const sizes = [known.size, ...PAGE_SIZES.filter((size) => size < known.size && !(field in payload))];
  let refusal: unknown;
  for (const size of sizes) {
    const asked = { [field]: size, ...payload };
    try {
      const begin = { ...asked, page: known.first ?? 1 };
      const { result, first } = await fromFirst(operation, begin, await ask(begin), known.first, ask);
      return { result, paging: { size, first }, isNew: size !== known.size || first !== known.first };
    } catch (error) {
      if (!isAboutSize(error)) throw error;
      refusal ??= error;
    }
  }
  throw refusal;
}

/**
 * Returns the first page of the list, given the answer to page 1. Only a page 0 with other rows proves that the service
 * counts from 0.
 */
async function fromFirst<R extends Result<unknown>>(
  operation: Operation,
  asked: { page: number },
  result: R,
  known: Paging['first'],
  ask: Ask<R>,
): Promise<{ result: R; first: Paging['first'] }> {
  if (asked.page === 0 || !operation.paged) return { result, first: known };
  const askOther = (other: object) => ask({ ...asked, ...other }).catch(unlessRefused);
  let first = firstShown(result) ?? known;
  const mayLack = !result.pagination || (result.pagination.total ?? 0) > rowsIn(result).length;
  if (first === undefined && mayLack) {
    // Page 1 begins with the same row for every size, unless a page comes before it.
    const other = await askOther({ [sizeField(operation)]: Reflect.get(asked, sizeField(operation)) === 1 ? 2 : 1 });
    const [row] = other ? rowsIn(other) : [];
    if (row !== undefined) first = isSame(row, rowsIn(result)[0]) ? 1 : 0;
  }
  if (first !== 0) return { result, first };
  const zeroth = await askOther({ page: 0 });
  const isOther = zeroth && rowsIn(zeroth).length > 0 && !isSame(zeroth.data, result.data);
  return isOther ? { result: zeroth, first: 0 } : { result, first: 1 };
}

/** Returns the number of the first page, if the pagination in the answer to page 1 shows it. */
function firstShown(result: Result<unknown>): Paging['first'] {
  const { from, total, current_page } = result.pagination ?? {};
  const isBehind = (from ?? 0) > 1 || (current_page ?? 0) > 1 || (rowsIn(result).length === 0 && (total ?? 0) > 0);
  if (isBehind) return 0;
  return from === 1 ? 1 : undefined;
}

const rowsIn = ({ data }: Result<unknown>): readonly unknown[] => (Array.isArray(data) ? data : []);
const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
const sizeField = ({ pageSize = 'per_page' }: Operation) => pageSize;

/** Returns the refusal in an error of the client, or in the cause of an error of a run. */
function refusalIn(error: unknown): PartnerRefusal | undefined {
  const refusal = error instanceof Error && !(error instanceof PartnerRefusal) ? error.cause : error;
  return refusal instanceof PartnerRefusal ? refusal : undefined;
}

const isRefused = (error: unknown, statuses: readonly number[]) => statuses.includes(refusalIn(error)?.status ?? 0);

function unlessRefused(error: unknown): undefined {
  if (!isRefused(error, [400, 404, 422])) throw error;
}

/**
 * True if a refusal may be about the page size. The fields of error bodies are not shown, so only a refusal that names
 * other fields is not.
 */
function isAboutSize(error: unknown): boolean {
  if (!isRefused(error, [400, 422])) return false;
  const { fieldErrors = [] } = refusalIn(error) ?? {};
  return fieldErrors.length === 0 || fieldErrors.some((line) => /page|limit|size/i.test(line));
}

/**
 * Decides when a list ends. No other code decides this.
 *
 * Only some lists are documented to return a pagination object. With it, `last_page` decides, and a page with another
 * number than the requested one ends the list.
 *
 * Without it, the service may have smaller pages than requested, so a first page with rows never ends a list: the next
 * page is requested. A page that is empty, or shorter than the last one, is the end. A page that equals the last one
 * shows that the service ignores `page`. It is then unknown whether the list is cut off, unless an override says that
 * the list is not paged. A refused page ends the list, and it is then unknown whether the list is complete.
 *
 * @param count the number of earlier pages
 * @param before the fingerprint of the last page, or null
 */
function readPage(
  { paged }: Operation,
  count: number,
  paging: Paging,
  result: Result<unknown> | undefined,
  before: string | null,
): PageRead {
  if (!result) return { repeats: true, last: true, whole: false, fingerprint: null, paging };
  const { data, pagination } = result;
  const rows = rowsIn(result).length;
  if (pagination) {
    const { current_page, last_page, total } = pagination;
    const asked = (paging.first ?? 1) + count;
    // A service whose first page has the number 0 may still number its answers from 1.
    const page = paging.first === 0 && current_page === asked + 1 ? current_page : asked;
    const repeats = count > 0 && current_page !== page;
    const last = repeats || last_page <= page || (count > 0 && rows === 0);
    const hasMore = count === 0 && (total ?? 0) > rows;
    return { repeats, last, whole: last && !repeats && !hasMore, fingerprint: null, paging };
  }
  if (!paged || rows === 0 || (before !== null && rows < Number.parseInt(before, 10)))
    return { repeats: false, last: true, whole: true, fingerprint: null, paging };
  const hash = createHash('sha256').update(JSON.stringify(data)).digest('base64url').slice(0, 22);
  const fingerprint = `${rows} ${hash}`;
  const repeats = fingerprint === before;
  return { repeats, last: repeats, whole: false, fingerprint, paging };
}
