/** Parameters of a GET: `{ per_page: 100, page: 2 }`. */
export type Query = Readonly<Record<string, string | number>>;

/**
 * The pages of a list, one request each.
 *
 * @param get makes the request for one page
 * @param first the parameters of the first page; GitHub tells those of the next one in its answer
 * @see https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api#using-link-headers
 */
export async function* pagesOf<T>(
  get: (query: Query) => Promise<{ data: T; headers: { link?: string | undefined } }>,
  first: Query,
): AsyncGenerator<{ data: T; isLast: boolean }> {
  for (let query: Query | undefined = first; query; ) {
    const { data, headers } = await get(query);
    const next: string | undefined = /<([^>]+)>;\s*rel="next"/.exec(headers.link ?? '')?.[1];
    query = next === undefined ? undefined : Object.fromEntries(new URL(next).searchParams);
    yield { data, isLast: query === undefined };
  }
}
