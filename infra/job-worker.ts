import { Duration } from 'aws-cdk-lib';
import {
  type CfnEventSourceMapping,
  EventSourceMapping,
  type Function as LambdaFunction,
  RecursiveLoop,
} from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { workersOf } from '../lib/config/capacity.ts';
import { parkingInWords } from '../lib/engine/record/in-plain-words.ts';
import { WORKER_TIMEOUT } from './job-queue.ts';
import { RelayFunction, type RelayParts } from './relay-function.ts';

/** The worker and its event sources: one message per invocation, with a maximum concurrency for each lane. */
export class JobWorker extends Construct {
  readonly function: LambdaFunction;

  constructor(scope: Construct, id: string, props: RelayParts) {
    super(scope, id);
    const { queues, secrets, alarms, config, running } = props;
    this.function = new RelayFunction(this, 'Function', {
      ...props,
      slug: 'job-worker',
      // The worker mostly waits for I/O. With 512 MB, people do not notice its cold start.
      memoryMegabytes: 512,
      timeout: WORKER_TIMEOUT,
      callsService: true,
      throttled: 'jobs wait, and so do people in Slack.',
      // A worker that ends a job sends the message of the next job in line. After about 16 jobs, Lambda would take a
      // backlog for a loop. lib/engine/run/ending.ts guards against real loops.
      recursiveLoop: RecursiveLoop.ALLOW,
    }).function;
    secrets.grantRead(this.function, ['github', 'slack', 'grants', 'markers', 'intake', 'partner', 'calendar']);
    for (const lane of ['interactive', 'background'] as const) {
      // A job may make others: a team's timesheet job makes a reminder for each person who has hours missing.
      queues[lane].grantSend(this.function);
      queues[lane].queue.grantConsumeMessages(this.function);
      const source = new EventSourceMapping(this, `${lane}Source`, {
        target: this.function,
        eventSourceArn: queues[lane].queue.queueArn,
        batchSize: 1,
        maxConcurrency: workersOf(config, props.stage.settings)[lane],
        reportBatchItemFailures: true,
      });
      (source.node.defaultChild as CfnEventSourceMapping).enabled = running.either(true, false);
    }

    alarms.add(this.function.metricErrors({ statistic: 'Sum', period: Duration.minutes(1) }), 'job-worker-errors', {
      broken: 'The worker crashed or timed out: the job is retried automatically, but late.',
      todo: 'Read the log of job-worker. If it happens again, it is a bug.',
    });
    alarms.add(alarms.metric('JobsParked', 'Sum'), 'parked-jobs', {
      isArrival: true,
      broken:
        'Newly parked jobs wait for a person: events from GitHub, Slack or a schedule have not reached the service.',
      todo: `npx partner-relay --stage <stage> jobs --status parked shows the reasons. Unknown outcome: look in the service for what the job names, then run npx partner-relay --stage <stage> resolve. Otherwise: ${parkingInWords['needs an operator'].helps}`,
    });
  }
}
