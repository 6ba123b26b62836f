import type * as z from 'zod';
import type { Result } from './answer.ts';
import type { PartnerClient } from './client.ts';
import type { Operation } from './operation.ts';
import { readPage } from './paging.ts';

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
): AsyncGenerator<Result<z.output<D>>, boolean> {
  let before: string | null = null;
  for (let page = 1; page <= maxPages; page++) {
    const asked = { ...(payload as object), page };
    const result = await call(operation, asked as z.input<P>);
    const read = readPage(page, asked, result, before);
    if (!read.repeats) yield result;
    if (read.last) return read.whole;
    before = read.fingerprint;
  }
  return false;
}
