import * as z from 'zod/mini';
import { isNewer } from './form.ts';
import type { Expression } from './table.ts';

/**
 * A stored item that is not as the relay writes it. The message says which item, which attributes are wrong, and what
 * to do. It contains no values.
 */
export class UnreadableItem extends Error {
  override readonly name: string = 'UnreadableItem';
}

/** An item of a newer version, or something that only a newer version has. */
export class NewerItem extends UnreadableItem {
  override readonly name = 'NewerItem';

  constructor(what: string, why = 'cannot be read: a newer version of the relay wrote it. Upgrade to that version') {
    super(`${what} ${why}`);
  }
}

/**
 * Checks an item of the table, which is input like any other.
 * @param what names the item in the message
 * @param todo what an operator should do
 * @throws {UnreadableItem}
 */
export function readItem<T>(shape: z.ZodMiniType<T>, item: unknown, what: string, todo: string): T {
  if (isNewer(item)) throw new NewerItem(what);
  const { data, error } = shape.safeParse(item);
  if (!error) return data;
  const wrong = [...new Set(error.issues.map(({ path }) => String(path[0])))];
  throw new UnreadableItem(`${what} cannot be read: impossible value of ${wrong.join(', ')}. ${todo}`);
}

/** Returns undefined for an unreadable item. For lists, which leave such items out. */
export async function ifReadable<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof UnreadableItem) return undefined;
    throw error;
  }
}

/** A time in epoch milliseconds, within the range of a Date. */
export const storedTime = z.number().check(z.gte(0), z.lte(8.64e15));

/**
 * Returns the condition that no write has come since an item was read.
 * @param count the attribute that each write changes
 * @param was its value, which may be anything. For a number that a double cannot hold, the condition is that it is
 * still so large
 */
export function unchangedSince(count: string, was: unknown): Expression {
  if (was === undefined) return { expression: `attribute_not_exists(#${count})` };
  if (typeof was !== 'number' || Math.abs(was) <= Number.MAX_SAFE_INTEGER)
    return { expression: `#${count} = :was`, values: { was } };
  const most = Number.MAX_SAFE_INTEGER;
  return { expression: `#${count} > :most OR #${count} < :least`, values: { most, least: -most } };
}
