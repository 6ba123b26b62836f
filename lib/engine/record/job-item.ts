import * as z from 'zod/mini';
import { isExpired } from '../../state/table/expiry.ts';
import { keys } from '../../state/table/keys.ts';
import type { Item } from '../../state/table/table.ts';
import { readItem, UnreadableItem } from '../../state/table/unreadable-item.ts';
import { type Job, jobShape, standingShape } from './job.ts';

/** A job in a waiting line, as read from the index. */
export type StandingJob = Pick<Job, 'id' | 'generation' | 'lane' | 'entity' | 'slotAt' | 'createdAt'>;

const lineShape = z.object(standingShape);

const WHAT_TO_DO =
  'The job does nothing until its record is corrected in the table. If it cannot be corrected, delete it, and do by hand what the job was for';

/** Reads the job in an item of the table or of its index. @throws {UnreadableItem} */
export function jobOfItem(item: Item): Job {
  const id = idOfRecord(item);
  return ofItsKey(id, readItem<Job>(jobShape, item, `the record of the job ${id}`, WHAT_TO_DO));
}

/** @throws {UnreadableItem} */
export function standingJobOfItem(item: Item): StandingJob {
  const id = idOfRecord(item);
  return ofItsKey(id, readItem<StandingJob>(lineShape, item, `the place of the job ${id} in line`, WHAT_TO_DO));
}

/** Returns the job id in the item's key. */
export const idOfRecord = ({ pk }: Item): string => String(pk).slice(keys.job('').pk.length);

/** Rejects a record that has the id of another job, because its writes would change that other job. */
function ofItsKey<T extends { id: string }>(id: string, job: T): T {
  if (job.id === id) return job;
  throw new UnreadableItem(`the record of the job ${id} cannot be read: it has the id of another job. ${WHAT_TO_DO}`);
}

/** True for an ended job that has expired. DynamoDB may keep such an item for days. */
export function isGone(item: Item, now: number): boolean {
  return (item.status === 'succeeded' || item.status === 'not-done') && isExpired(item, now);
}

/** Returns the jobs in some items, without expired and unreadable ones. */
export function readableJobs(items: readonly Item[], now: number): Job[] {
  return items.flatMap((item) => (isGone(item, now) ? [] : (unlessUnreadable(() => jobOfItem(item)) ?? [])));
}

/** Returns undefined for an unreadable item. @param unreadable gets the error */
export function unlessUnreadable<T>(read: () => T, unreadable?: (error: UnreadableItem) => void): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UnreadableItem)) throw error;
    unreadable?.(error);
    return undefined;
  }
}
