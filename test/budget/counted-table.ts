import type { Item, Table } from '../../lib/table/table.ts';
import type { VirtualTime } from './virtual-time.ts';

/** What the table would cost, by DynamoDB's rules. */
export interface Units {
  /** One for each KB of each write, whether its condition held or not. */
  write: number;
  /** Of these, those of writes whose condition did not hold. */
  failed: number;
  /** One for each 4 KB read consistently. */
  read: number;
  largestItemBytes: number;
}

/** A real table that is so far away in virtual time, and that counts what is asked of it. */
export function countedTable(
  table: Table,
  time: VirtualTime,
  random: () => number,
  tripMs: readonly [number, number],
): { table: Table; units: Units } {
  const units: Units = { write: 0, failed: 0, read: 0, largestItemBytes: 0 };

  async function faraway<T>(act: () => Promise<T>): Promise<T> {
    const ms = tripMs[0] + random() * (tripMs[1] - tripMs[0]);
    await time.sleep(ms / 2);
    const result = await time.real(act);
    await time.sleep(ms / 2);
    return result;
  }

  return {
    units,
    table: {
      ...table,
      async get(key) {
        const item = await faraway(() => table.get(key));
        units.read += Math.max(1, Math.ceil(sizeOf(item ?? {}) / 4_096));
        return item;
      },
      async put(item, condition) {
        const bytes = sizeOf(item);
        units.largestItemBytes = Math.max(units.largestItemBytes, bytes);
        units.write += Math.ceil(bytes / 1_024);
        const written = await faraway(() => table.put(item, condition));
        if (!written) units.failed += Math.ceil(bytes / 1_024);
        return written;
      },
    },
  };
}

/** Of an item in DynamoDB, by "DynamoDB item sizes and formats" of its developer guide. */
function sizeOf(item: Item): number {
  return Object.entries(item).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + sizeOfValue(value), 0);
}

function sizeOfValue(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return Math.ceil(String(value).length / 2) + 1;
  if (value instanceof Uint8Array) return value.length;
  if (Array.isArray(value)) return value.reduce((sum, one) => sum + 1 + sizeOfValue(one), 3);
  throw new TypeError(`no size is known for ${typeof value}`);
}
