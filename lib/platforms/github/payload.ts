import * as z from 'zod/mini';
import { PayloadError } from './delivery.ts';

/** A text with a bound, because an item of the table holds 400 KB. */
export const text = (mostCharacters: number) => z.string().check(z.maxLength(mostCharacters));

/**
 * GitHub allows 39 characters for a login and 100 for the name of a repository. A GitHub Enterprise Server may allow
 * more.
 */
export const login = text(255);
export const repository = z.object({ full_name: text(600) });
/** ISO 8601, as GitHub writes it: `2026-11-20T09:59:58Z`. */
export const instant = z
  .string()
  .check(z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/, 'expected a time'));
export const installation = z.object({ id: z.int() });

/** @throws {PayloadError} that names each field which is missing or of another type */
export function readPayload<T>(event: string, schema: z.core.$ZodType<T>, payload: unknown): T {
  const parsed = z.safeParse(schema, payload);
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map((fault) => `${fault.path.join('.')}: ${fault.message}`);
  throw new PayloadError(`the ${event} payload cannot be read: ${fields.slice(0, 5).join('; ')}`);
}
