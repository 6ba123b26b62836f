import * as z from 'zod/mini';
import type { Item } from '../state/table/table.ts';
import { storedTime } from '../state/table/unreadable-item.ts';

/** A job, and when it was recorded; epoch milliseconds. */
export interface NotedJob {
  id: string;
  at: number;
}

/** What the table has of a person's requests. */
export interface TurnsItem {
  noted: NotedJob[];
  /** The ids of the last jobs, ended or not, the newest last. */
  asked: string[];
  /** When the last job was recorded. */
  lastAt: number;
  /** Counts the writes, so that each write is conditional on what was read. */
  version: number;
}

const id = z.string().check(z.minLength(1));
const noted = z.array(z.object({ id, at: storedTime }));
const asked = z.array(id);
const version = z.int().check(z.gte(0));

/** Reads any item. What cannot be read counts as missing: it never stops a person, who could not repair it. */
export function readTurnsItem(item: Item | undefined): TurnsItem {
  return {
    noted: noted.safeParse(item?.noted).data ?? [],
    asked: asked.safeParse(item?.asked).data ?? [],
    lastAt: storedTime.safeParse(item?.lastAt).data ?? 0,
    version: version.safeParse(item?.version).data ?? 0,
  };
}
