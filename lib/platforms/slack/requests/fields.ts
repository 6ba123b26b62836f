import * as z from 'zod/mini';

/** A correctly signed request that cannot be read. The message names the fault without repeating the value. */
export class SlackRequestError extends Error {
  override readonly name = 'SlackRequestError';
}

/** An id or name. Its length is limited, because keys and items of the table are. */
export const name = z.string().check(z.maxLength(255));
export const given = name.check(z.minLength(1));
export const typed = z.string().check(z.maxLength(40_000));

/** @throws {SlackRequestError} */
export function parsed<T>(what: string, schema: z.core.$ZodType<T>, value: unknown): T {
  const read = z.safeParse(schema, value);
  if (read.success) return read.data;
  const fields = read.error.issues.map((issue) => issue.path.join('.') || '(all of it)');
  throw new SlackRequestError(`the ${what} has missing or invalid fields: ${fields.slice(0, 5).join(', ')}`);
}

/**
 * Reads data that the relay has stored in a button or a modal.
 * @throws {SlackRequestError}
 */
export function readOwn<T>(where: string, json: string, schema: z.core.$ZodType<T>): T {
  try {
    return z.parse(schema, JSON.parse(json));
  } catch {
    throw new SlackRequestError(`${where} does not contain the relay's own data`);
  }
}
