export interface Answer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

export const answerOf = (body: unknown, status = 200): Answer => ({ status, body });

export const notFound = answerOf({ message: 'Not Found' }, 404);

/**
 * A page of a list, with the header that links the next page.
 * https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api
 */
export function pageOf(all: readonly unknown[], query: URLSearchParams, url: string): Answer {
  const [page, size] = [Number(query.get('page') ?? 1), Number(query.get('per_page') ?? 30)];
  const next = new URLSearchParams(query);
  next.set('page', String(page + 1));
  return {
    ...answerOf(all.slice((page - 1) * size, page * size)),
    ...(all.length > page * size && { headers: { link: `<${url}?${next}>; rel="next"` } }),
  };
}
