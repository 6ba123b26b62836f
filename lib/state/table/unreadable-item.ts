import * as z from 'zod/mini';
import { isNewer } from './form.ts';
import type { Expression } from './table.ts';

/**
 * A stored item that is not as the relay writes it. The message says which item, which attributes are wrong, and what
 * to do. It repeats no value.
 */
export class UnreadableItem extends Error {
  override readonly name: string = 'UnreadableItem';
}

/** An item of a newer version, or what only a newer version has. */
export class NewerItem extends UnreadableItem {
  override readonly name = 'NewerItem';

  constructor(what: string, why = 'cannot be read: a newer version of the relay wrote it. Upgrade to that version') {
    super(`${what} ${why}`);
  }
}

/**
 * Checks an item of the table, which is input like any other.
 *
 * @param what the item, for the message
 * @param todo what an operator does about it
 * @throws {UnreadableItem}
 */
export function readItem<T>(shape: z.ZodMiniType<T>, item: unknown, what: string, todo: string): T {
  if (isNewer(item)) throw new NewerItem(what);
  const { data, error } = shape.safeParse(item);
  if (!error) return data;
  const wrong = [...new Set(error.issues.map(({ path }) => String(path[0])))];
  throw new UnreadableItem(`${what} cannot be read: impossible value of ${wrong.join(', ')}. ${todo}`);
}

/** For lists, which leave out unreadable items. */
export async function ifReadable<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof UnreadableItem) return undefined;
    throw error;
  }
}

/** Epoch milliseconds that a date can have. */
export const storedTime = z.number().check(z.gte(0), z.lte(8.64e15));

/**
 * The condition that nothing was written since an item was read.
 * @param count the attribute that each write changes
 * @param was its value, which may be anything. A number that a double cannot hold is compared by that.
 */
export function unchangedSince(count: string, was: unknown): Expression {
  if (was === undefined) return { expression: `attribute_not_exists(#${count})` };
  if (typeof was !== 'number' || Math.abs(was) <= Number.MAX_SAFE_INTEGER)
    return { expression: `#${count} = :was`, values: { was } };
  const most = Number.MAX_SAFE_INTEGER;
  return { expression: `#${count} > :most OR #${count} < :least`, values: { most, least: -most } };
}
