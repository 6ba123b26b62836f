import { expiry } from './expiry.ts';
import type { Key } from './keys.ts';
import type { Table } from './table.ts';

/** A slow or rate-limited source whose answers are kept in the table for some time. */
export interface Source<T> {
  table: Table;
  clock: () => number;
  /** The key of the item for the answer. The item has the attributes of `T`. */
  key: Key;
  /** How long an answer is kept; 0 to not keep it. */
  keptForMs: number | ((answer: T) => number);
  read: () => Promise<T>;
  /** True if a kept answer that has not expired is still good. Without this function, it always is. */
  fits?: (kept: T) => boolean;
}

/** Returns the kept answer, or reads one and keeps it. Two callers at the same time may both read. */
export async function remembered<T extends object>(source: Source<T>): Promise<T> {
  const { table, clock, key, keptForMs, read, fits = () => true } = source;
  const kept = (await table.get(key)) as T | undefined;
  if (kept && fits(kept)) return kept;
  const answer = await read();
  const ms = typeof keptForMs === 'number' ? keptForMs : keptForMs(answer);
  if (ms > 0) await table.put({ ...answer, ...key, expiresAt: expiry(clock(), ms) });
  return answer;
}
