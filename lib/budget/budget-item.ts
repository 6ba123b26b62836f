import type { Item } from '../table/table.ts';
import type { Lane, Windows } from './lanes.ts';
import { emptyDay, emptyMinute, packWindow, unpackWindow } from './window.ts';

/** What is known of a connection's budget. Times are epoch milliseconds, 0 for never. */
export interface BudgetState extends Windows {
  version: number;
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
    minute: item ? unpackWindow(emptyMinute(), item.minute, now) : emptyMinute(),
    day: item ? unpackWindow(emptyDay(), item.day, now) : emptyDay(),
    pausedUntil: number(item?.pausedUntil),
    lineSince: {
      interactive: number(item?.interactiveSince),
      further: number(item?.furtherSince),
      background: number(item?.backgroundSince),
    },
    movedAt: number(item?.movedAt),
  };
}

export function stateItem({ minute, day, lineSince, ...rest }: BudgetState): Item {
  const { interactive: interactiveSince, further: furtherSince, background: backgroundSince } = lineSince;
  return { ...rest, minute: packWindow(minute), day: packWindow(day), interactiveSince, furtherSince, backgroundSince };
}

function number(value: unknown): number {
  if (value !== undefined && typeof value !== 'number') throw new TypeError('expected a number');
  return value ?? 0;
}
