import * as z from 'zod/mini';
import { lanes } from '../../service/budget/lanes.ts';
import { isExpired } from '../../state/table/expiry.ts';
import { keys } from '../../state/table/keys.ts';
import type { Item } from '../../state/table/table.ts';
import { readItem, storedTime, UnreadableItem } from '../../state/table/unreadable-item.ts';
import { newestShape, type OperatorDecision, type Waited } from './history.ts';
import { type Job, jobStatuses, parkKinds } from './job.ts';
import type { Send } from './sends.ts';

/** A job in a waiting line, as read from the index. */
export type StandingJob = Pick<Job, 'id' | 'generation' | 'lane' | 'entity' | 'slotAt' | 'createdAt'>;

const string = z.string();
const maybe = z.exactOptional(string);
const count = z.int().check(z.gte(0));
const maybeTime = z.exactOptional(storedTime);

const standingShape = {
  id: string,
  generation: count,
  lane: z.enum(lanes),
  entity: string,
  createdAt: storedTime,
  slotAt: maybeTime,
};

/** Built for the first record that is read: a webhook reads one only for a repeat. */
const jobShape = z.lazy(() =>
  z.object({
    ...standingShape,
    automation: string,
    connection: string,
    group: maybe,
    startsAtOnce: z.exactOptional(z.literal(true)),
    summary: string,
    input: z.record(string, z.unknown()),
    replyTo: z.exactOptional(
      z.discriminatedUnion('in', [
        z.object({ in: z.literal('slack'), userId: string, channelId: maybe, responseUrl: maybe }),
        z.object({
          in: z.literal('github'),
          repository: string,
          issueNumber: count,
          installationId: z.exactOptional(count),
        }),
      ]),
    ),
    asked: z.exactOptional(
      z.object({
        verb: maybe,
        by: z.exactOptional(z.object({ in: z.enum(['slack', 'github']), id: string })),
        byName: maybe,
        at: maybeTime,
        comment: z.exactOptional(z.object({ id: count, line: string })),
        unproven: z.exactOptional(
          z.object({
            login: maybe,
            isShown: z.exactOptional(z.boolean()),
            in: z.exactOptional(z.object({ repository: string, installationId: z.exactOptional(count) })),
            otherwise: maybe,
          }),
        ),
      }),
    ),
    signature: maybe,
    stranger: maybe,
    revision: z.exactOptional(count),
    cause: z.exactOptional(
      z.object({
        from: z.enum(['github', 'slack', 'schedule', 'webhook', 'job']),
        id: string,
        event: maybe,
        person: maybe,
      }),
    ),
    status: z.enum(jobStatuses),
    queuedAt: maybeTime,
    wakeAt: storedTime,
    gotOn: z.exactOptional(z.object({ generation: count, at: storedTime })),
    attempts: count,
    lease: z.exactOptional(z.object({ owner: string, since: storedTime, until: storedTime })),
    crashes: z.exactOptional(z.array(storedTime)),
    dueAt: maybeTime,
    line: maybe,
    expectedAt: maybeTime,
    waits: z.exactOptional(newestShape<Waited>()),
    decisions: z.exactOptional(newestShape<OperatorDecision>()),
    discarded: z.exactOptional(z.object({ by: string, reason: string })),
    unfinished: z.exactOptional(
      z.array(
        z.object({
          step: string,
          calls: string,
          startedAt: storedTime,
          resumedAt: maybeTime,
          sends: z.exactOptional(newestShape<Send>()),
        }),
      ),
    ),
    limited: z.exactOptional(z.object({ operation: string, served: count })),
    outcome: maybe,
    notDone: z.exactOptional(z.boolean()),
    parked: z.exactOptional(z.object({ reason: string, kind: z.enum(parkKinds) })),
  } satisfies Record<keyof Job, z.ZodMiniType>),
);

const lineShape = z.object(standingShape);

const WHAT_TO_DO =
  'Nothing of it is carried out until the record is corrected in the table. If it cannot be corrected, delete it and do by hand what it was to do';

/** The job in an item of the table or of its index. @throws {UnreadableItem} */
export function jobOfItem(item: Item): Job {
  const id = idOfRecord(item);
  return ofItsKey(id, readItem<Job>(jobShape, item, `the record of the job ${id}`, WHAT_TO_DO));
}

/** @throws {UnreadableItem} */
export function standingJobOfItem(item: Item): StandingJob {
  const id = idOfRecord(item);
  return ofItsKey(id, readItem<StandingJob>(lineShape, item, `the place of the job ${id} in line`, WHAT_TO_DO));
}

/** The id by the item's key. */
export const idOfRecord = ({ pk }: Item): string => String(pk).slice(keys.job('').pk.length);

/** A record with the id of another job would change that one. */
function ofItsKey<T extends { id: string }>(id: string, job: T): T {
  if (job.id === id) return job;
  throw new UnreadableItem(`the record of the job ${id} cannot be read: it has the id of another job. ${WHAT_TO_DO}`);
}

/** True for an ended job that has expired. DynamoDB may keep it for days. */
export function isGone(item: Item, now: number): boolean {
  return item.status === 'succeeded' && isExpired(item, now);
}

/** The jobs among items, without what is gone or cannot be read. */
export function readableJobs(items: readonly Item[], now: number): Job[] {
  return items.flatMap((item) => (isGone(item, now) ? [] : (unlessUnreadable(() => jobOfItem(item)) ?? [])));
}

/** @param unreadable gets the error */
export function unlessUnreadable<T>(read: () => T, unreadable?: (error: UnreadableItem) => void): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UnreadableItem)) throw error;
    unreadable?.(error);
    return undefined;
  }
}
