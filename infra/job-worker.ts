import { Duration } from 'aws-cdk-lib';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import type { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { Construct } from 'constructs';
import { WORKER_TIMEOUT } from './job-queue.ts';
import { RelayFunction, type RelayParts } from './relay-function.ts';

/** The worker, and what brings it messages: one at a time, so many at once of each lane. */
export class JobWorker extends Construct {
  readonly function: NodejsFunction;

  constructor(scope: Construct, id: string, props: RelayParts) {
    super(scope, id);
    const { queues, secrets, alarms, config } = props;
    this.function = new RelayFunction(this, 'Function', {
      ...props,
      slug: 'job-worker',
      // It mostly waits for others; half a gigabyte keeps its cold start out of a person's sight.
      memoryMegabytes: 512,
      timeout: WORKER_TIMEOUT,
      callsService: true,
      throttled: 'jobs wait, and people in Slack with them.',
      reservedConcurrency: config.deployment.reservedConcurrency.worker,
    }).function;
    secrets.grantRead(this.function, ['github', 'slack', 'grants', 'partner']);
    for (const lane of ['interactive', 'background'] as const) {
      // A job may make others: a team's timesheets, a reminder for each who is short.
      queues[lane].queue.grantSendMessages(this.function);
      this.function.addEventSource(
        new SqsEventSource(queues[lane].queue, {
          batchSize: 1,
          maxConcurrency: config.deployment.maxConcurrency[lane],
          reportBatchItemFailures: true,
        }),
      );
    }

    alarms.add(this.function.metricErrors({ statistic: 'Sum', period: Duration.minutes(1) }), 'job-worker-errors', {
      threshold: 1,
      broken: 'The worker crashed or ran into its time-out: the job is tried again by itself, later than it should be.',
      todo: 'Read the log of job-worker; if it goes on, it is a bug.',
    });
    alarms.add(alarms.metric('ParkedJobs', 'Maximum'), 'parked-jobs', {
      threshold: 1,
      broken: 'Jobs wait for a person: what happened in GitHub, in Slack or on a schedule has not reached the service.',
      todo: 'relay --stage <stage> jobs --status parked says why; mend the cause, then relay --stage <stage> replay <id>.',
    });
  }
}
