import { expiry } from './expiry.ts';
import type { Key } from './keys.ts';
import type { Table } from './table.ts';

/** Something slow or rate-limited whose answers are kept in the table for some time. */
export interface Source<T> {
  table: Table;
  clock: () => number;
  /** The key of the item that keeps the answer; its attributes are those of `T`. */
  key: Key;
  /** How long an answer is kept; 0 to not keep it. */
  keptForMs: number | ((answer: T) => number);
  read: () => Promise<T>;
  /** Whether a kept answer is still good before it expires. Without it, it always is. */
  fits?: (kept: T) => boolean;
}

/** Returns the kept answer, or else reads one and keeps it. Two callers at once may both read. */
export async function remembered<T extends object>(source: Source<T>): Promise<T> {
  const { table, clock, key, keptForMs, read, fits = () => true } = source;
  const kept = (await table.get(key)) as T | undefined;
  if (kept && fits(kept)) return kept;
  const answer = await read();
  const ms = typeof keptForMs === 'number' ? keptForMs : keptForMs(answer);
  if (ms > 0) await table.put({ ...answer, ...key, expiresAt: expiry(clock(), ms) });
  return answer;
}
