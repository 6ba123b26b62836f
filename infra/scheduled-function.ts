import { Duration } from 'aws-cdk-lib';
import { PolicyStatement, Role } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import {
  type CfnSchedule,
  ContextAttribute,
  Schedule,
  ScheduleExpression,
  ScheduleTargetInput,
} from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Schedule as Declared, ScheduleEvent } from '../lib/schedules.ts';
import { acknowledge } from './acknowledge.ts';
import { ofThisAccount } from './of-this-account.ts';
import { queueEncryption } from './queue-encryption.ts';
import { RelayFunction, type RelayParts } from './relay-function.ts';

/** Cron expressions, because a rate would count from the time of the deployment. */
const MINUTES: Readonly<Record<Declared['everyMinutes'], string>> = { 1: '*', 15: '0/15', 60: '0' };

/** The number of missing runs after which the alarm goes off. */
const PERIODS_WITHOUT_RUN = 3;

/** A function that runs on a schedule. */
export class ScheduledFunction extends Construct {
  readonly function: LambdaFunction;
  readonly failures: Queue;

  constructor(scope: Construct, id: string, props: RelayParts & { schedule: Declared }) {
    super(scope, id);
    const { schedule, alarms, secrets, queues, running } = props;
    const { slug, needs, broken } = schedule;
    this.function = new RelayFunction(this, 'Function', {
      ...props,
      slug,
      memoryMegabytes: 256,
      timeout: Duration.seconds(schedule.timeoutSeconds),
      callsService: needs.service,
      throttled: broken,
    }).function;
    secrets.grantRead(this.function, needs.secrets);
    for (const lane of needs.queues) {
      queues[lane].grantSend(this.function);
      if (needs.deadLetters) queues[lane].grantCountDead(this.function);
    }

    // A standard queue, because neither Scheduler nor Lambda can use a FIFO queue here.
    this.failures = new Queue(this, 'Failures', {
      ...queueEncryption(props.key),
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    acknowledge(this.failures, 'AwsSolutions-SQS3', 'This queue is a dead-letter queue itself.');
    // Scheduler sends events here that it could not deliver. Lambda's own destination sends failed invocations.
    this.function.configureAsyncInvoke({
      // The CDK's destination would also let the function read the queue's attributes.
      onFailure: { bind: () => ({ destination: this.failures.queueArn }) },
      retryAttempts: 2,
      maxEventAge: Duration.minutes(15),
    });
    // https://docs.aws.amazon.com/scheduler/latest/UserGuide/cross-service-confused-deputy-prevention.html
    const role = new Role(this, 'ScheduleRole', { assumedBy: ofThisAccount('scheduler.amazonaws.com') });
    role.addToPolicy(
      new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [this.function.functionArn] }),
    );
    for (const sender of [this.function, role]) this.failures.grant(sender, 'sqs:SendMessage');
    props.key?.grant(role, 'kms:Decrypt', 'kms:GenerateDataKey');
    const event: ScheduleEvent = { at: ContextAttribute.scheduledTime };
    const fires = new Schedule(this, 'Schedule', {
      ...(props.key && { key: props.key }),
      schedule: ScheduleExpression.cron({ minute: MINUTES[schedule.everyMinutes] }),
      target: new LambdaInvoke(this.function, {
        // The CDK's target would grant the role every version of the function.
        role: role.withoutPolicyUpdates(),
        input: ScheduleTargetInput.fromObject(event),
        deadLetterQueue: this.failures,
        retryAttempts: 3,
        maxEventAge: Duration.minutes(15),
      }),
    });
    (fires.node.defaultChild as CfnSchedule).state = running.either('ENABLED', 'DISABLED').toString();
    // Counts sent messages: messages stay for 14 days, so their number would hide the next failure. Lambda and
    // Scheduler use SendMessage, which should count. Messages that SQS itself moves to a dead-letter queue do not:
    // https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html
    alarms.add(this.failures.metricNumberOfMessagesSent({ statistic: 'Sum' }), `${slug}-failures`, {
      isArrival: true,
      broken: `${slug} failed three times in a row: ${broken}`,
      todo: 'Read its log. When it runs again, you can delete the messages in its failure queue.',
    });
    // job-sweep has a heartbeat, which also shows that its runs complete.
    if (schedule.everyMinutes === 1) return;
    const period = Duration.minutes(schedule.everyMinutes);
    alarms.add(this.function.metricInvocations({ statistic: 'Sum', period }), `${slug}-not-run`, {
      periods: PERIODS_WITHOUT_RUN,
      isSignOfLife: true,
      broken: `${slug} has not run for ${PERIODS_WITHOUT_RUN * schedule.everyMinutes} minutes: ${broken}`,
      todo: 'Check that its schedule is enabled. On a new stage, and after a stop, this ends with the next run.',
    });
  }
}
