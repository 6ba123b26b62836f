/** This many parallel requests to AWS are fast and stay far below its limits. */
const AT_ONCE = 16;

/**
 * Runs a function for each item, a limited number at a time.
 * @throws {AggregateError} after all have been tried, so that one failure does not stop the others
 */
export async function inBatches<T, R>(many: readonly T[], act: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const errors: unknown[] = [];
  for (let from = 0; from < many.length; from += AT_ONCE) {
    for (const settled of await Promise.allSettled(many.slice(from, from + AT_ONCE).map(act))) {
      if (settled.status === 'fulfilled') results.push(settled.value);
      else errors.push(settled.reason);
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} of ${many.length} failed: ${errors[0]}`);
  return results;
}
