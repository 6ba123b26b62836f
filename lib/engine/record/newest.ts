import * as z from 'zod/mini';
import { storedTime } from '../../state/table/unreadable-item.ts';

/** The newest entries of a list that could grow without end. An item of the table holds 400 KB. */
export interface Newest<Entry> {
  /** In the order in which they happened. */
  newest: Entry[];
  /** How many older ones were dropped. */
  older: number;
}

/** Adds an entry, and drops the oldest if there are more than `most`. */
export function withEntry<Entry>(list: Newest<Entry> | undefined, entry: Entry, most: number): Newest<Entry> {
  const { newest = [], older = 0 } = list ?? {};
  const all = [...newest, entry];
  const dropped = Math.max(0, all.length - most);
  return { newest: all.slice(dropped), older: older + dropped };
}

/** Only people read these lists, so no more is checked than that they can be shown. */
export const newestShape = <Entry>() => z.custom<Newest<Entry>>(isNewest);

function isNewest(value: unknown): boolean {
  const list = value as Partial<Newest<unknown>> | null | undefined;
  return Array.isArray(list?.newest) && Number.isSafeInteger(list.older) && list.newest.every(isEntry);
}

const isEntry = (entry: unknown): boolean =>
  typeof entry === 'object' &&
  entry !== null &&
  Object.values(entry).every((value) => typeof value !== 'number' || storedTime.safeParse(value).success);
