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
  /** The line that the job would join. Only for a job that no worker has had. */
  of: z.optional(z.object({ connection: z.string(), lane: z.enum(lanes) })),
  /**
   * When and where to send the message again. Only for a waiting job whose message sleeps outside its group, so that it
   * does not block the group.
   */
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

/** True if no worker has had the job, as far as its sender knows. */
const isNew = ({ connection, attempts, waits, gotOn }: QueuedJob) =>
  connection !== undefined && attempts === 0 && !waits && !gotOn;

/** How many workers of each queue may run a team's code at once. That code may hang. */
const OWN_GROUPS = 2;

/** Returns the group of a job of a team's automation. Jobs of one entity share a group, so they keep their order. */
export const customGroup = (entity: string): string =>
  `own-${Number.parseInt(digest(entity).slice(0, 8), 16) % OWN_GROUPS}`;

/**
 * Returns the message group of a job. Jobs of one entity share a group, so they run one after the other. A person's job
 * that is sent again after a failure or a wait gets its own group, so that the person's other commands do not wait for
 * it.
 */
function groupOf(job: QueuedJob, isAlone: boolean): string {
  const { generation, lane, entity, group = entity } = job;
  if (isCustomGroup(group)) return group;
  const leaves = isAlone || (isOfPeople(lane) && generation > 1 && !isNew(job));
  return fitting(leaves ? messageIdOf(job) : group);
}

const fitting = (group: string) => (group.length <= MAX_GROUP_LENGTH ? group : digest(group));

/** Also serves as the message's group, so that a sleeping message of an earlier generation cannot block this one. */
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
     * @param isAlone true if the message gets its own group and does not wait for others
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
    /** Sends the message of a job that slept outside its group into the group. A second message is harmless. */
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

/** How many requests to AWS run in parallel: fast, and far below its limits. */
const AT_ONCE = 16;

/**
 * Runs a function for each item, a limited number at a time.
 * @throws {AggregateError} after all items, so that one failure does not stop the others
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
