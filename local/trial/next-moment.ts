import { MINUTE_MS } from '../../lib/dates.ts';
import type { Job } from '../../lib/engine/record/job.ts';
import type { FifoQueue } from '../fifo-queue.ts';

/**
 * When something can happen next in a relay that has done all it can do now: a message wakes, or the sweep finds
 * something to do. It moves the waiting lines on every minute; until a minute before the first slot that changes nothing.
 */
export function nextMoment(now: number, queues: readonly FifoQueue[], underWay: readonly Job[]): number {
  const next = Math.min(
    ...queues.map((queue) => queue.nextWakeAt()),
    ...underWay.map(({ line, wakeAt, expectedAt = 0 }) =>
      line === undefined ? wakeAt : Math.max(now + MINUTE_MS, expectedAt - MINUTE_MS),
    ),
  );
  return Math.max(now + 1, next);
}
