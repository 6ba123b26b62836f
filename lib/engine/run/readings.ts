import { digest } from '../../digest.ts';
import type { Connection } from '../../service/connection/connection.ts';
import type { Learned } from '../../service/connection/learned.ts';
import type { PartnerClient } from '../../service/partner/client.ts';
import type { HowFound, Operation } from '../../service/partner/operation.ts';
import { pages } from '../../service/partner/pages.ts';
import { expiry } from '../../state/table/expiry.ts';
import { type Key, keys } from '../../state/table/keys.ts';
import { setFields, type Table } from '../../state/table/table.ts';
import { RetryAt, StepFailed } from '../record/interruption.ts';
import type { Search } from '../record/journal.ts';
import { markerIn } from '../record/markers.ts';
import type { SendLog } from '../record/sends.ts';
import type { PartnerCalls } from './partner-calls.ts';

/** The maximum number of pages read from a list. */
const PAGES = 10;
/** About 100 bytes each, in an item of at most 400 KB. */
const MARKERS_KEPT = 2_000;
/** A reader that has not finished after this long counts as killed. */
const READER_MS = 60_000;
const LOOK_AGAIN_MS = 2_000;
const KEPT_MS = 3_600_000;

/** Ids by marker. */
type Ids = Record<string, string | number>;

/** The item in the table. Times are epoch milliseconds. */
interface KeptReading {
  /** When the last reading began. */
  startedAt?: number;
  /** True if the reading reached the end or the last allowed page. It may end early when it finds its marker. */
  isWhole?: boolean;
  /** True if every row arrived, and the list shows the text that contains the marker. */
  isComplete?: boolean;
  /** The ids from this reading and earlier ones. */
  ids?: Ids;
  /** Until then, another job is reading. */
  readerUntil?: number;
}

export interface Wanted {
  /** The marker in the object's text. */
  marker: string;
  idField: string;
  found: HowFound;
  /** The list operation, with this instance's overrides. */
  list: Operation;
  /** The fields of `found.scope`, which narrow the list. */
  scope: Readonly<Record<string, unknown>>;
  /** Reads the list to its end even after the object is found, because other jobs search it, too. */
  toTheEnd?: true;
}

/** The id that a search found, or the reading that did not contain it. */
type Sought = { id: string | number } | ({ id?: undefined } & Search);

/** A reading that takes longer than this does not fit into a run. */
const SLOW_READING_MS = 30_000;

/** The list is too slow to be read in one run, so its reading proves nothing. */
export class ListTooSlow extends StepFailed {}

export interface ReadingsOptions {
  table: Table;
  connection: Connection;
  learned: Learned;
  calls: PartnerCalls;
  clock: () => number;
}

/**
 * Shares one reading of a list among all creations that are open at that time, so that a hundred lost answers do not
 * cost a hundred readings. One job reads, and the others wait for the result.
 */
export function createReadings({ table, connection, learned, calls, clock }: ReadingsOptions) {
  /**
   * Searches for an object by its marker.
   * @param since a reading that began earlier cannot prove that the object does not exist
   * @param log gets the sends of a reading
   * @returns the id of the object, or the reading since then that did not contain it
   * @throws {RetryAt} if the run cannot wait for a reading
   * @throws {ListTooSlow}
   */
  return async function find(wanted: Wanted, since: number, log: SendLog): Promise<Sought> {
    const { list, scope, found, marker } = wanted;
    const key = keys.reading(connection.name, list.name, digest([found.field, scope]));
    for (;;) {
      const kept = (await table.get(key)) as KeptReading | undefined;
      // An object that was found still exists, however old the reading is.
      const id = kept?.ids?.[marker];
      if (id !== undefined) return { id };
      const { startedAt = 0, isWhole, isComplete = false } = kept ?? {};
      if (isWhole && startedAt >= since) return { at: startedAt, isComplete };
      if (await claim(key)) return readAndKeep(key, wanted, kept?.ids ?? {}, log);
      await calls.pauses.until(clock() + LOOK_AGAIN_MS, `another job reads ${list.name}`, 'job');
    }
  };

  async function claim(key: Key): Promise<boolean> {
    const now = clock();
    const claimed = await table.update(
      key,
      setFields({ readerUntil: now + READER_MS, expiresAt: expiry(now, KEPT_MS) }),
      { expression: 'attribute_not_exists(#readerUntil) OR #readerUntil <= :now', values: { now } },
    );
    return claimed !== undefined;
  }

  async function readAndKeep(key: Key, wanted: Wanted, before: Ids, log: SendLog): Promise<Sought> {
    const startedAt = clock();
    try {
      const { ids, ...read } = await readIds(wanted, log);
      const id = ids[wanted.marker];
      const all = { ...before, ...ids };
      const fits = [all, ids].find((ids) => Object.keys(ids).length <= MARKERS_KEPT);
      const reading: KeptReading = fits ? { startedAt, ...read, ids: fits } : {};
      await table.put({ ...key, ...reading, expiresAt: expiry(startedAt, KEPT_MS) });
      return id === undefined ? { at: startedAt, isComplete: read.isComplete } : { id };
    } catch (error) {
      // If this write fails too, the claim expires. The error of the reading decides how the job continues.
      await table.update(key, { expression: 'REMOVE #readerUntil' }).catch(() => {});
      // The next run would start over, and would also run out of time.
      const isTooSlow = error instanceof RetryAt && clock() - startedAt > SLOW_READING_MS;
      throw isTooSlow ? new ListTooSlow(`${wanted.list.name} is too slow to be read in one run`) : error;
    }
  }

  /** Reads until the marker is found, or to the end of the list. */
  async function readIds({ list, scope, found, idField, marker, toTheEnd }: Wanted, log: SendLog) {
    const ids: Ids = {};
    let [rows, texts] = [0, 0];
    const call: PartnerClient['call'] = (operation, payload) =>
      calls.repeatable(operation, payload, { urgent: true, log, as: { calls: operation.name } });
    const reading = pages(call, list, scope, PAGES, learned);
    for (;;) {
      const page = await reading.next();
      if (page.done) return { ids, isWhole: true, isComplete: page.value && (rows === 0 || texts > 0) };
      await learned.fromRows(page.value.data);
      for (const row of page.value.data as Record<string, unknown>[]) {
        const [id, text] = [row[idField], row[found.field]];
        if (typeof id !== 'string' && typeof id !== 'number') continue;
        rows++;
        if (typeof text === 'string') texts++;
        const theirs = markerIn(text);
        if (theirs !== undefined) ids[theirs] ??= id;
      }
      if (ids[marker] !== undefined && !toTheEnd) return { ids, isWhole: false, isComplete: false };
    }
  }
}
