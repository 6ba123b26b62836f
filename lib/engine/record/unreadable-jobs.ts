import { WAITS_FOR_NEWER_MS } from '../../state/table/form.ts';
import { keys } from '../../state/table/keys.ts';
import { type Expression, type Item, setFields, type Table } from '../../state/table/table.ts';
import { NewerItem, type UnreadableItem } from '../../state/table/unreadable-item.ts';
import type { Job, Parked } from './job.ts';
import { idOfRecord, jobOfItem, unlessUnreadable } from './job-item.ts';

/** Gets a line for each unreadable record. */
export type Warn = (line: object) => void;

export type UnreadableJobs = ReturnType<typeof createUnreadableJobs>;

/** Parks unreadable job records, so that each causes one failure only. */
export function createUnreadableJobs(table: Table, clock: () => number, warn: Warn) {
  /**
   * Parks an unreadable record. Once an operator has corrected it, it is a parked job like any other. A record of a
   * newer version waits for that version's sweep until it is a day late; an alarm for overdue jobs goes off meanwhile.
   */
  async function setAside(jobId: string, error: UnreadableItem): Promise<undefined> {
    const now = clock();
    const { message } = error;
    const late = { expression: '#wakeAt < :aDayAgo', values: { aDayAgo: now - WAITS_FOR_NEWER_MS } };
    const reason = 'its record could not be read';
    const parked: Parked = { reason, kind: 'needs an operator' };
    const set = { status: 'parked', parked, wakeAt: now };
    const change = setFields(set, ['lease', 'dueAt', 'line', 'slotAt']);
    const unlessEnded = {
      expression:
        'attribute_exists(#pk) AND #status <> :isSucceeded AND #status <> :isNotDone AND #status <> :isParked',
      values: { isSucceeded: 'succeeded', isNotDone: 'not-done', isParked: 'parked' },
    };
    const condition = error instanceof NewerItem ? both(unlessEnded, late) : unlessEnded;
    if (await table.update(keys.job(jobId), change, condition)) warn({ message, jobId });
  }

  /**
   * True for a record that waits for a newer version. After a rollback there may be thousands, and a conditional write
   * for each would slow the sweep down.
   */
  const waitsForNewer = ({ wakeAt }: Item, error: UnreadableItem) =>
    error instanceof NewerItem && !(Number(wakeAt) < clock() - WAITS_FOR_NEWER_MS);

  const both = (one: Expression, other: Expression): Expression => ({
    expression: `${one.expression} AND ${other.expression}`,
    values: { ...one.values, ...other.values },
  });

  /** Reads items, and notes the unreadable ones for `setAside`. */
  function readerOf<T>(read: (item: Item) => T) {
    const unreadable: [string, UnreadableItem][] = [];
    return {
      read: (items: readonly Item[]): T[] =>
        items.flatMap(
          (item) =>
            unlessUnreadable(
              () => read(item),
              (error) => {
                if (!waitsForNewer(item, error)) unreadable.push([idOfRecord(item), error]);
              },
            ) ?? [],
        ),
      async setAside(): Promise<void> {
        for (const [id, error] of unreadable) await setAside(id, error);
      },
    };
  }

  /** Returns the jobs in some items, and parks the unreadable ones. */
  async function readJobs(items: readonly Item[]): Promise<Job[]> {
    const reader = readerOf(jobOfItem);
    const jobs = reader.read(items);
    await reader.setAside();
    return jobs;
  }

  return { setAside, readerOf, readJobs };
}
