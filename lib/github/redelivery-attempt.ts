import * as z from 'zod';

/** One attempt to deliver something. Those of one event have its GUID in common, and an id each. */
export interface Attempt {
  /** Beyond what a number holds. */
  id: string;
  /** `X-GitHub-Delivery` */
  guid: string;
  /** Epoch milliseconds. */
  deliveredAt: number;
  /** Whether it is not the first attempt. */
  isRedelivery: boolean;
  /** What we answered; what GitHub made of it where we did not. */
  statusCode: number;
}

const attempt = z
  .object({
    id: z.union([z.int(), z.bigint()]),
    guid: z.string().min(1),
    delivered_at: z.iso.datetime({ offset: true }),
    redelivery: z.boolean().nullish(),
    status_code: z.number().nullish(),
  })
  .transform(
    (item): Attempt => ({
      id: String(item.id),
      guid: item.guid,
      deliveredAt: Date.parse(item.delivered_at),
      isRedelivery: item.redelivery ?? false,
      statusCode: item.status_code ?? 0,
    }),
  );
const page = z.array(attempt);

/** Reads a page of a hook's list. @throws {Error} that names the fields which are missing or of another type */
export function readAttempts(data: unknown): Attempt[] {
  const parsed = page.safeParse(data);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.') || '(whole)'}: ${message}`);
  throw new Error(`GitHub's list of deliveries cannot be read: ${faults.slice(0, 5).join('; ')}`);
}

/**
 * The cursor of the next page, by the header `Link`.
 * https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api#using-link-headers
 */
export function nextCursor(link: string | undefined): string | undefined {
  const next = /<([^>]+)>;\s*rel="next"/.exec(link ?? '')?.[1];
  return (next && new URL(next).searchParams.get('cursor')) || undefined;
}
