import type { Item } from '../table/table.ts';
import type { Lane, Windows } from './lanes.ts';
import { bytes, unpack, unpackSparse } from './packed.ts';
import { add, emptyDay, emptyMinute, emptyWeek, MINUTE, packWindow, unpackWindow } from './window.ts';

/** What is known of a connection's budget. Times are epoch milliseconds, 0 for never. */
export interface BudgetState extends Windows {
  version: number;
  /** Tells the last write from every other one. */
  written: string;
  pausedUntil: number;
  /** Since when jobs stand in the waiting line of each lane; 0 for an empty line. */
  lineSince: Record<Lane, number>;
  /** When the waiting lines were last moved on. */
  movedAt: number;
}

/** @throws {TypeError | RangeError} for an item that is not a budget */
export function readState(item: Item | undefined, now: number): BudgetState {
  return {
    version: number(item?.version),
    written: String(item?.written ?? ''),
    ...windowsOf(item, now),
    pausedUntil: number(item?.pausedUntil),
    lineSince: {
      interactive: number(item?.interactiveSince),
      further: number(item?.furtherSince),
      background: number(item?.backgroundSince),
      backfill: number(item?.backfillSince),
    },
    movedAt: number(item?.movedAt),
  };
}

export function stateItem({ minute, day, events, lineSince, ...rest }: BudgetState): Item {
  const windows = { minuteCalls: packWindow(minute), dayCalls: packWindow(day), eventCalls: packWindow(events) };
  return {
    ...{ ...rest, ...windows },
    interactiveSince: lineSince.interactive,
    furtherSince: lineSince.further,
    backgroundSince: lineSince.background,
    backfillSince: lineSince.backfill,
  };
}

function windowsOf(item: Item | undefined, now: number): Windows {
  // Earlier versions knew of no backfills, and kept no week.
  const week = item?.eventCalls ? unpackSparse(bytes(item.eventCalls)) : [];
  const events = unpackWindow(emptyWeek(), week, now);
  if (!item) return { minute: emptyMinute(), day: emptyDay(), events };
  if (item.slots) return { ...earlierWindows(item), events };
  // Earlier versions gave an empty bucket a byte of its own. They refuse what is called by another name, and send nothing.
  const [minute, day] = item.minute
    ? [unpack(bytes(item.minute)), unpack(bytes(item.day))]
    : [unpackSparse(bytes(item.minuteCalls)), unpackSparse(bytes(item.dayCalls))];
  return { minute: unpackWindow(emptyMinute(), minute, now), day: unpackWindow(emptyDay(), day, now), events };
}

/** Earlier versions kept when each slot of the minute stops counting, as differences, and the first bucket of the day apart. */
function earlierWindows({ since, slots, firstBucket, buckets }: Item): Pick<Windows, 'minute' | 'day'> {
  const [minute, day] = [emptyMinute(), emptyDay()];
  let at = number(since);
  for (const difference of unpack(bytes(slots))) {
    at += difference;
    add(minute, at - MINUTE);
  }
  return { minute, day: { ...day, first: number(firstBucket), calls: unpack(bytes(buckets)) } };
}

function number(value: unknown): number {
  if (value !== undefined && typeof value !== 'number') throw new TypeError('expected a number');
  return value ?? 0;
}
