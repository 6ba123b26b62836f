import type * as z from 'zod/mini';
import type { Key } from './keys.ts';
import type { Item, Table } from './table.ts';
import { unchangedSince } from './unreadable-item.ts';

/**
 * Changes an item, and counts the changes. An unreadable item counts as missing; an expired item still counts.
 * @param transition returns undefined to leave the item as it is
 * @param seen the item as the caller read it. If another write came since, it is read again
 * @returns the new state; undefined if the item was left as it is
 */
export async function changeItem<State extends object>(
  table: Table,
  key: Key,
  shape: z.ZodMiniType<State>,
  transition: (state: State | undefined) => State | undefined,
  seen?: { item: Item | undefined },
): Promise<State | undefined> {
  const read = () => table.getEvenExpired(key);
  for (let item = seen ? seen.item : await read(); ; item = await read()) {
    const next = transition(shape.safeParse(item).data);
    if (!next) return undefined;
    const turn = Number.isSafeInteger(item?.turn) ? Number(item?.turn) + 1 : 1;
    if (await table.put({ ...key, ...next, turn }, unchangedSince('turn', item?.turn))) return next;
  }
}
