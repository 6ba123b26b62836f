import { createHash } from 'node:crypto';
import type * as z from 'zod';
import type { Result } from './answer.ts';
import type { PartnerClient } from './client.ts';
import { PartnerRefusal } from './errors.ts';
import type { Operation } from './operation.ts';

/** The largest page is not shown (docs/partner-api.md#pagination). Assumed: 100 rows, or fewer if that is refused. */
const PAGE_SIZES = [100, 50, 25, 10];
export const PAGE_SIZE = 100;

/** How the pages of a connection are asked for. */
export interface Paging {
  /** The largest page that it takes. */
  size: number;
  /** The number of the first page, once an answer has shown it. It is not documented; assumed: 1. */
  first?: 0 | 1 | undefined;
}

export interface KnownPaging {
  paging(): Promise<Paging>;
  keepPaging(paging: Paging): Promise<void>;
}

/** What one page means for reading the rest of the list. It is small enough for a journal. */
export interface PageRead {
  /** The page repeats an earlier one or is not there, so it has no rows that count. */
  repeats: boolean;
  last: boolean;
  /** Whether every row of the list has arrived, known at the last page. False if it is unknown. */
  whole: boolean;
  /** For a list without pagination: what the next page is compared with. */
  fingerprint: string | null;
  paging: Paging;
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

type Ask<R> = (payload: object) => Promise<R>;

/**
 * Asks for a page, and reads what it means for the rest of the list.
 *
 * @param count the pages before it
 * @param before what the page before it meant
 * @returns no result if there may be no such page
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
  // Without pagination, there may be no such page.
  const result = await (fingerprint === null ? ask(asked) : ask(asked).catch(unlessRefused));
  return { result, read: readPage(operation, count, paging, result, fingerprint) };
}

/**
 * Asks for the first page, and for smaller ones as long as the service may refuse the size.
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
 * The first page of the list, given the answer to page 1. Only a page 0 with other rows proves that the service counts
 * from 0.
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
    // Page 1 begins with the same row for every size, unless there is a page before it.
    const other = await askOther({ [sizeField(operation)]: Reflect.get(asked, sizeField(operation)) === 1 ? 2 : 1 });
    const [row] = other ? rowsIn(other) : [];
    if (row !== undefined) first = isSame(row, rowsIn(result)[0]) ? 1 : 0;
  }
  if (first !== 0) return { result, first };
  const zeroth = await askOther({ page: 0 });
  const isOther = zeroth && rowsIn(zeroth).length > 0 && !isSame(zeroth.data, result.data);
  return isOther ? { result: zeroth, first: 0 } : { result, first: 1 };
}

/** The number of the first page that pagination shows in the answer to page 1. */
function firstShown(result: Result<unknown>): Paging['first'] {
  const { from, total, current_page } = result.pagination ?? {};
  const isBehind = (from ?? 0) > 1 || (current_page ?? 0) > 1 || (rowsIn(result).length === 0 && (total ?? 0) > 0);
  if (isBehind) return 0;
  return from === 1 ? 1 : undefined;
}

const rowsIn = ({ data }: Result<unknown>): readonly unknown[] => (Array.isArray(data) ? data : []);
const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
const sizeField = ({ pageSize = 'per_page' }: Operation) => pageSize;

/** The refusal in an error of the client, or in that of a run, which has it as its cause. */
function refusalIn(error: unknown): PartnerRefusal | undefined {
  const refusal = error instanceof Error && !(error instanceof PartnerRefusal) ? error.cause : error;
  return refusal instanceof PartnerRefusal ? refusal : undefined;
}

const isRefused = (error: unknown, statuses: readonly number[]) => statuses.includes(refusalIn(error)?.status ?? 0);

function unlessRefused(error: unknown): undefined {
  if (!isRefused(error, [400, 404, 422])) throw error;
}

/** The fields of error bodies are not shown. A refusal that names only other fields is not about the size. */
function isAboutSize(error: unknown): boolean {
  if (!isRefused(error, [400, 422])) return false;
  const { fieldErrors = [] } = refusalIn(error) ?? {};
  return fieldErrors.length === 0 || fieldErrors.some((line) => /page|limit|size/i.test(line));
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
 * @param count the pages before it
 * @param before the fingerprint of the previous page, or null
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
    // A service whose pages are asked for from 0 may still tell their numbers from 1.
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
