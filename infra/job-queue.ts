import { Duration, Stack } from 'aws-cdk-lib';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { QueueName } from '../lib/jobs/queue.ts';
import type { Alarms } from './alarms.ts';
import type { Keyed } from './keyed.ts';
import { queueEncryption } from './queue-encryption.ts';

/** Longest that one run of the worker may take: a few calls of 10 s each, and waits of up to 5 s between them. */
export const WORKER_TIMEOUT = Duration.seconds(60);

export interface JobQueueProps extends Keyed {
  lane: QueueName;
  alarms: Alarms;
}

/** The FIFO queue of one lane, and the queue for messages that break the worker. */
export class JobQueue extends Construct {
  readonly queue: Queue;

  constructor(scope: Construct, id: string, { lane, key, alarms }: JobQueueProps) {
    super(scope, id);
    const name = `${Stack.of(this).stackName}-${lane}`;
    const both = {
      fifo: true,
      ...queueEncryption(key),
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    };
    const deadLetters = new Queue(this, 'DeadLetters', { ...both, queueName: `${name}-dead.fifo` });
    this.queue = new Queue(this, 'Queue', {
      ...both,
      queueName: `${name}.fifo`,
      // Longer than a run of the worker, and no longer than needed: while a crashed worker's message is invisible, the
      // other jobs of its entity wait. The usual six-fold is for batches and for receives that count; here they do not.
      visibilityTimeout: WORKER_TIMEOUT.plus(Duration.seconds(30)),
      // A job that waits is received again and again; only a message that breaks the worker ever gets this far.
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: 100 },
    });
    alarms.add(deadLetters.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum' }), `${lane}-dead-letters`, {
      threshold: 1,
      broken: `A message of the ${lane} lane broke the worker a hundred times and was set aside: the event of one job is not carried out.`,
      todo: 'Read the message in the dead-letter queue and the worker log for its jobId; then relay job <id> and relay replay <id>.',
    });
  }
}
