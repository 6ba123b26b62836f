import type * as z from 'zod/mini';
import type { Key } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import { unchangedSince } from '../../state/table/unreadable-item.ts';

/** Items that are read, changed and written back, each write counted. One that cannot be read says nothing. */
export function createCountedItems<State extends object>(table: Table, shape: z.ZodMiniType<State>) {
  return {
    async get(key: Key): Promise<State | undefined> {
      return shape.safeParse(await table.get(key)).data;
    },
    /**
     * @param transition returns undefined to leave the item as it is
     * @returns what was written; undefined if nothing was
     */
    async change(key: Key, transition: (state: State | undefined) => State | undefined): Promise<State | undefined> {
      for (;;) {
        const item = await table.get(key);
        const next = transition(shape.safeParse(item).data);
        if (!next) return undefined;
        const turn = Number.isSafeInteger(item?.turn) ? Number(item?.turn) + 1 : 1;
        if (await table.put({ ...key, ...next, turn }, unchangedSince('turn', item?.turn))) return next;
      }
    },
  };
}
