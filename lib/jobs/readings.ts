import type { Connection } from '../connection/connection.ts';
import { digest } from '../digest.ts';
import { type PartnerClient, pages } from '../partner/client.ts';
import type { Finding, Operation } from '../partner/operation.ts';
import { expiry } from '../table/expiry.ts';
import { type Key, keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { RetryAt, StepFailed } from './interruption.ts';
import type { Slots } from './slots.ts';

/** How far a list is read, in pages of {@link PAGE_SIZE}. */
export const PAGES = 10;
const PAGE_SIZE = 100;
/** The relay puts one into the text of everything that it creates: `[partner-relay 4f2a…]`. */
const MARKER = /\[partner-relay [\w-]{1,64}\]/g;
/** About 100 bytes each, in an item that holds 400 KB at most. */
const MARKERS_KEPT = 2_000;
/** A reader that has not ended by then was killed. */
const READER_MS = 60_000;
const LOOK_AGAIN_MS = 2_000;
const KEPT_MS = 3_600_000;

/** Ids by marker. */
type Ids = Record<string, string | number>;

/** The item in the table. Times are epoch milliseconds. */
interface Kept {
  /** When the last reading began. */
  startedAt?: number;
  /** Whether it went to the end, or to the last page that is read at all. A reading ends early where it found its marker. */
  isWhole?: boolean;
  /** What it found, and those before it. */
  ids?: Ids;
  /** Only this long another caller reads. */
  readerUntil?: number;
}

/** What is looked for. */
export interface Wanted {
  /** The text by which it is known. */
  marker: string;
  /** The name of its field that holds its id. */
  idField: string;
  found: Finding;
  /** The operation that lists such things, as this instance has it. */
  list: Operation;
  /** What narrows the list: the fields of `found.scope`. */
  scope: Readonly<Record<string, unknown>>;
}

/** A reading that took this long and is not over does not fit into a run. */
const SLOW_READING_MS = 30_000;

/** A reading was begun and cannot be ended, so that it says nothing. */
export class ListTooSlow extends StepFailed {}

/** Readings of lists, shared by all open creations that are looked for in the same list. */
export interface Readings {
  /**
   * @param since a reading that began before then cannot say that something is not there
   * @returns the id of what has the marker, or undefined where a reading since then does not have it
   * @throws {RetryAt} where the run cannot wait for a reading
   * @throws {ListTooSlow}
   */
  find(wanted: Wanted, since: number): Promise<string | number | undefined>;
}

export interface ReadingsOptions {
  table: Table;
  connection: Connection;
  slots: Slots;
  /** Calls a list, ahead of other work. */
  read: PartnerClient['call'];
  clock: () => number;
}

/**
 * One reading of a list serves every creation that is open at that time: a hundred lost answers do not cost a hundred
 * readings. One reader at a time reads; the others wait for what it finds.
 */
export function createReadings({ table, connection, slots, read, clock }: ReadingsOptions): Readings {
  return {
    async find(wanted, since) {
      const { list, scope, found, marker } = wanted;
      const key = keys.reading(connection.name, list.name, digest([found.field, scope]));
      for (;;) {
        const kept = (await table.get(key)) as Kept | undefined;
        // That something is there stays true, however old the reading is.
        if (kept?.ids?.[marker] !== undefined) return kept.ids[marker];
        if (kept?.isWhole && (kept.startedAt ?? 0) >= since) return undefined;
        if (await claim(key)) return readAndKeep(key, wanted, kept?.ids ?? {});
        await slots.pauseUntil(clock() + LOOK_AGAIN_MS, `another job reads ${list.name}`);
      }
    },
  };

  async function claim(key: Key): Promise<boolean> {
    const now = clock();
    const claimed = await table.update(
      key,
      { expression: 'SET #readerUntil = :until', values: { until: now + READER_MS } },
      { expression: 'attribute_not_exists(#readerUntil) OR #readerUntil <= :now', values: { now } },
    );
    return claimed !== undefined;
  }

  async function readAndKeep(key: Key, wanted: Wanted, before: Ids): Promise<string | number | undefined> {
    const startedAt = clock();
    try {
      const ids = await readIds(wanted);
      const id = ids[wanted.marker];
      const all = { ...before, ...ids };
      const fits = [all, ids].find((ids) => Object.keys(ids).length <= MARKERS_KEPT);
      const reading: Kept = fits ? { startedAt, isWhole: id === undefined, ids: fits } : {};
      await table.put({ ...key, ...reading, expiresAt: expiry(startedAt, KEPT_MS) });
      return id;
    } catch (error) {
      await table.update(key, { expression: 'REMOVE #readerUntil' });
      // The next run would have to begin again, and come no further.
      const isTooSlow = error instanceof RetryAt && clock() - startedAt > SLOW_READING_MS;
      throw isTooSlow ? new ListTooSlow(`${wanted.list.name} is too slow to be read in one run`) : error;
    }
  }

  /** Reads until the marker is found, or to the end. */
  async function readIds({ list, scope, found, idField, marker }: Wanted): Promise<Ids> {
    const ids: Ids = {};
    for await (const { data } of pages(read, list, { ...scope, [found.pageSize]: PAGE_SIZE }, PAGES)) {
      for (const row of data as Record<string, unknown>[]) {
        const id = row[idField];
        if (typeof id !== 'string' && typeof id !== 'number') continue;
        for (const [marker] of String(row[found.field]).matchAll(MARKER)) ids[marker] ??= id;
      }
      if (ids[marker] !== undefined) break;
    }
    return ids;
  }
}
