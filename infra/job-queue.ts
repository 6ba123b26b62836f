import { Duration, Stack } from 'aws-cdk-lib';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import { DeduplicationScope, FifoThroughputLimit, Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { deadLettersOf, LONGEST_SLEEP_MS, type QueueName } from '../lib/config/queues.ts';
import type { Alarms } from './alarms.ts';
import type { Keyed } from './keyed.ts';
import { queueEncryption } from './queue-encryption.ts';

/** The longest run of the worker: a few calls of 10 s each, and waits of up to 8 s between them. */
export const WORKER_TIMEOUT = Duration.seconds(60);

/** The greatest age of a message while workers run: the longest sleep, a run, and time until a worker receives it. */
const OLDEST_MESSAGE = Duration.millis(LONGEST_SLEEP_MS).plus(Duration.minutes(5));

export interface JobQueueProps extends Keyed {
  lane: QueueName;
  alarms: Alarms;
}

/** The FIFO queue of one lane, and the dead-letter queue for messages that crash the worker. */
export class JobQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;

  constructor(scope: Construct, id: string, { lane, key, alarms }: JobQueueProps) {
    super(scope, id);
    const name = `${Stack.of(this).stackName}-${lane}`;
    const both = {
      fifo: true,
      // High throughput: each entity is a group of its own, so a limit for the whole queue would only slow it down.
      // https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/high-throughput-fifo.html
      fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
      deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
      ...queueEncryption(key),
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    };
    const deadLetters = new Queue(this, 'DeadLetters', { ...both, queueName: deadLettersOf(`${name}.fifo`) });
    this.deadLetters = deadLetters;
    this.queue = new Queue(this, 'Queue', {
      ...both,
      queueName: `${name}.fifo`,
      // Longer than a run of the worker, but short: while a crashed worker's message is invisible, the other jobs of
      // its entity wait.
      // AWS recommends six times the timeout, so that Lambda can try again if the function is throttled:
      // https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
      // In an account at its limit, a run may start late, so that the message returns while it runs. That is harmless:
      // the job's lease covers the whole run, and a worker without the lease lets the message sleep. Extending the
      // visibility would cost a request for each run.
      visibilityTimeout: WORKER_TIMEOUT.plus(Duration.seconds(30)),
      // A waiting job is received many times, but only a message that crashes the worker reaches this number.
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: 100 },
    });
    alarms.add(
      this.queue.metricApproximateAgeOfOldestMessage({ statistic: 'Maximum', period: Duration.minutes(1) }),
      `${lane}-oldest-message`,
      {
        threshold: OLDEST_MESSAGE.toSeconds(),
        periods: 3,
        broken: `Messages of the ${lane} lane have waited for ${OLDEST_MESSAGE.toMinutes()} minutes: ${lane === 'interactive' ? 'commands from Slack are not carried out.' : 'events reach the service late or not at all.'}`,
        todo: 'Check that job-worker runs: its errors and throttles, its event source mappings, and the concurrency of the account.',
      },
    );
  }

  /** Lets a function count the dead letters. */
  grantCountDead(grantee: IGrantable): void {
    this.deadLetters.grant(grantee, 'sqs:GetQueueAttributes');
  }

  /** Lets a function or a person send messages. They have the right to the stage's key already. */
  grantSend(grantee: IGrantable): void {
    this.queue.grant(grantee, 'sqs:SendMessage');
  }
}
