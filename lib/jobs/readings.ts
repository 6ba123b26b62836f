import type { Connection } from '../connection/connection.ts';
import { digest } from '../digest.ts';
import { type PartnerClient, pages } from '../partner/client.ts';
import type { Finding, Operation } from '../partner/operation.ts';
import { expiry } from '../table/expiry.ts';
import { type Key, keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { RetryAt, StepFailed } from './interruption.ts';
import type { SendLog } from './sends.ts';
import type { Slots } from './slots.ts';

/** The most pages of a list to read, with {@link PAGE_SIZE} rows each. */
export const PAGES = 10;
const PAGE_SIZE = 100;
/** The marker that the relay writes into the text of everything that it creates: `[partner-relay 4f2a…]`. */
export const MARKER = /\[partner-relay [\w-]{1,64}\]/g;
/** About 100 bytes each, in an item that holds at most 400 KB. */
const MARKERS_KEPT = 2_000;
/** A reader that has not finished by then counts as killed. */
const READER_MS = 60_000;
const LOOK_AGAIN_MS = 2_000;
const KEPT_MS = 3_600_000;

/** Ids by marker. */
type Ids = Record<string, string | number>;

/** The item in the table. Times are epoch milliseconds. */
interface Kept {
  /** When the last reading began. */
  startedAt?: number;
  /** True if it reached the end or the last allowed page. A reading ends early when it finds its marker. */
  isWhole?: boolean;
  /** The ids that this reading and earlier ones found. */
  ids?: Ids;
  /** Until then, another caller is reading. */
  readerUntil?: number;
}

/** The object to search for. */
export interface Wanted {
  /** The text that identifies it. */
  marker: string;
  /** The name of its id field. */
  idField: string;
  found: Finding;
  /** The list operation, with this instance's overrides. */
  list: Operation;
  /** The fields of `found.scope`, which narrow the list. */
  scope: Readonly<Record<string, unknown>>;
}

/** A reading that has not finished after this long does not fit into a run. */
const SLOW_READING_MS = 30_000;

/** A reading was begun and cannot be finished, so it proves nothing. */
export class ListTooSlow extends StepFailed {}

/** Readings of lists, shared by all searches for open creations in the same list. */
export interface Readings {
  /**
   * @param since a reading that began before this time cannot prove that the object does not exist
   * @returns the id of the object with the marker, or undefined if a reading since then does not have it
   * @param log gets the sends of a reading
   * @throws {RetryAt} if the run cannot wait for a reading
   * @throws {ListTooSlow}
   */
  find(wanted: Wanted, since: number, log: SendLog): Promise<string | number | undefined>;
}

export interface ReadingsOptions {
  table: Table;
  connection: Connection;
  slots: Slots;
  /** Calls the list operation, ahead of other work, and notes it in the log. */
  read: (log: SendLog) => PartnerClient['call'];
  clock: () => number;
}

/**
 * One reading of a list serves every creation that is open at that time, so a hundred lost answers do not cost a
 * hundred readings. One reader at a time reads. The others wait for its result.
 */
export function createReadings({ table, connection, slots, read, clock }: ReadingsOptions): Readings {
  return {
    async find(wanted, since, log) {
      const { list, scope, found, marker } = wanted;
      const key = keys.reading(connection.name, list.name, digest([found.field, scope]));
      for (;;) {
        const kept = (await table.get(key)) as Kept | undefined;
        // A found object still exists, however old the reading is.
        if (kept?.ids?.[marker] !== undefined) return kept.ids[marker];
        if (kept?.isWhole && (kept.startedAt ?? 0) >= since) return undefined;
        if (await claim(key)) return readAndKeep(key, wanted, kept?.ids ?? {}, log);
        await slots.pauseUntil(clock() + LOOK_AGAIN_MS, `another job reads ${list.name}`, 'job');
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

  async function readAndKeep(
    key: Key,
    wanted: Wanted,
    before: Ids,
    log: SendLog,
  ): Promise<string | number | undefined> {
    const startedAt = clock();
    try {
      const ids = await readIds(wanted, log);
      const id = ids[wanted.marker];
      const all = { ...before, ...ids };
      const fits = [all, ids].find((ids) => Object.keys(ids).length <= MARKERS_KEPT);
      const reading: Kept = fits ? { startedAt, isWhole: id === undefined, ids: fits } : {};
      await table.put({ ...key, ...reading, expiresAt: expiry(startedAt, KEPT_MS) });
      return id;
    } catch (error) {
      await table.update(key, { expression: 'REMOVE #readerUntil' });
      // The next run would have to start over and would get no further.
      const isTooSlow = error instanceof RetryAt && clock() - startedAt > SLOW_READING_MS;
      throw isTooSlow ? new ListTooSlow(`${wanted.list.name} is too slow to be read in one run`) : error;
    }
  }

  /** Reads until the marker is found, or to the end. */
  async function readIds({ list, scope, found, idField, marker }: Wanted, log: SendLog): Promise<Ids> {
    const ids: Ids = {};
    for await (const { data } of pages(read(log), list, { ...scope, [found.pageSize]: PAGE_SIZE }, PAGES)) {
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
