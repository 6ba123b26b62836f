import { ChangeMessageVisibilityCommand, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import * as z from 'zod/mini';
import type { QueueName } from '../../config/queues.ts';
import { digest } from '../../digest.ts';
import { isOfPeople, type Lane, lanes } from '../../service/budget/lanes.ts';
import { isCustomGroup, type Job } from '../record/job.ts';

/** The content of a queue message. Everything else is in the table. */
export const jobMessage = z.object({
  jobId: z.string(),
  generation: z.int(),
  /** For a job that no worker has had: the line that it would join. */
  of: z.optional(z.object({ connection: z.string(), lane: z.enum(lanes) })),
  /** For a job that waits and must not hold up its group: when the message goes there. Until then it sleeps apart. */
  sleeps: z.optional(z.object({ until: z.number(), lane: z.enum(lanes), group: z.string() })),
});
export type JobMessage = z.output<typeof jobMessage>;
type SleepingMessage = JobMessage & Required<Pick<JobMessage, 'sleeps'>>;

/** The longest MessageGroupId that SQS accepts (SendMessage, API reference). */
const MAX_GROUP_LENGTH = 128;

export const queueOf = (lane: Lane): QueueName => (isOfPeople(lane) ? 'interactive' : 'background');

/** The fields of a job that its message needs. A job that no worker has had also needs its connection. */
export type QueuedJob = Pick<Job, 'id' | 'generation' | 'lane' | 'entity' | 'group' | 'startsAtOnce'> &
  Partial<Pick<Job, 'connection' | 'attempts' | 'waits' | 'gotOn' | 'dueAt'>>;

export type JobQueue = ReturnType<typeof createJobQueue>;

/** Whether no worker has had the job, as far as its sender knows. */
const isNew = ({ connection, attempts, waits, gotOn }: QueuedJob) =>
  connection !== undefined && attempts === 0 && !waits && !gotOn;

/** The code of a team may hang. At most this many workers of each queue run it at once. */
const OWN_GROUPS = 2;

/** The group of a job of a team's own automation. Jobs of one entity have the same, so they keep their order. */
export const customGroup = (entity: string): string =>
  `own-${Number.parseInt(digest(entity).slice(0, 8), 16) % OWN_GROUPS}`;

/**
 * Jobs of one entity run one after the other. A person's job that was sent again after a failure or a wait leaves them, so
 * that their other commands do not wait for it.
 */
function groupOf(job: QueuedJob, isAlone: boolean): string {
  const { generation, lane, entity, group = entity } = job;
  if (isCustomGroup(group)) return group;
  const leaves = isAlone || (isOfPeople(lane) && generation > 1 && !isNew(job));
  return fitting(leaves ? messageIdOf(job) : group);
}

const fitting = (group: string) => (group.length <= MAX_GROUP_LENGTH ? group : digest(group));

/** Also the message's group, so that a sleeping message of an earlier generation cannot block it. */
const messageIdOf = ({ id, generation }: Pick<QueuedJob, 'id' | 'generation'>) => `${id}:${generation}`;

export function createJobQueue(sqs: SQSClient, urls: Readonly<Record<QueueName, string>>) {
  async function post(lane: Lane, message: JobMessage, group: string, messageId: string): Promise<void> {
    await sqs.send(
      new SendMessageCommand({
        QueueUrl: urls[queueOf(lane)],
        MessageBody: JSON.stringify(message),
        MessageGroupId: group,
        MessageDeduplicationId: messageId,
      }),
    );
  }

  return {
    /**
     * Sends one message. SQS accepts each generation of a job only once within five minutes.
     * @param isAlone true if it goes past all others of its group
     */
    async send(job: QueuedJob, isAlone = false): Promise<void> {
      const { id: jobId, generation, lane, connection, startsAtOnce, dueAt: until } = job;
      const group = groupOf(job, isAlone);
      const id = messageIdOf(job);
      if (until !== undefined && isCustomGroup(group))
        return post(lane, { jobId, generation, sleeps: { until, lane, group } }, fitting(id), id);
      const of = isNew(job) && connection !== undefined && !startsAtOnce && { of: { connection, lane } };
      await post(lane, { jobId, generation, ...of }, group, id);
    },
    /** Sends a message that has slept apart into its group. A second one does no harm. */
    async wake({ jobId: id, generation, sleeps: { lane, group } }: SleepingMessage): Promise<void> {
      await post(lane, { jobId: id, generation }, group, `${messageIdOf({ id, generation })}:due`);
    },
    /**
     * Puts a received message to sleep. Its group sleeps too.
     * @param queueArn from the message: `arn:aws:sqs:eu-central-1:123456789012:background.fifo`
     */
    async sleep(queueArn: string, receiptHandle: string, ms: number): Promise<void> {
      const name = queueArn.slice(queueArn.lastIndexOf(':') + 1);
      const url = Object.values(urls).find((url) => url.endsWith(`/${name}`));
      if (!url) throw new Error(`a message came from ${name}, which is not one of the queues in the environment`);
      await sqs.send(
        new ChangeMessageVisibilityCommand({
          QueueUrl: url,
          ReceiptHandle: receiptHandle,
          VisibilityTimeout: Math.ceil(Math.max(0, ms) / 1000),
        }),
      );
    },
  };
}

/** This many parallel requests to AWS are fast and stay far below its limits. */
const AT_ONCE = 16;

/**
 * Runs a function for each item, a limited number at a time.
 * @throws {AggregateError} after all have been tried, so that one failure does not stop the others
 */
export async function inBatches<T, R>(many: readonly T[], act: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const errors: unknown[] = [];
  for (let from = 0; from < many.length; from += AT_ONCE) {
    for (const settled of await Promise.allSettled(many.slice(from, from + AT_ONCE).map(act))) {
      if (settled.status === 'fulfilled') results.push(settled.value);
      else errors.push(settled.reason);
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} of ${many.length} failed: ${errors[0]}`);
  return results;
}
