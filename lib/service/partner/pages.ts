import type * as z from 'zod';
import type { Result } from './answer.ts';
import type { PartnerClient } from './client.ts';
import type { Operation } from './operation.ts';
import { askForPage, PAGE_SIZE, readPage } from './paging.ts';

/** The largest page that a connection is known to take. */
export interface PageSizes {
  pageSize(): Promise<number>;
  keepPageSize(size: number): Promise<void>;
}

/**
 * The pages of a list to its end (see paging.ts). Each page is the result of one call. The generator returns whether every
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
