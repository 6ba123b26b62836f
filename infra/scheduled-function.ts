import { Duration } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import type { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { ContextAttribute, Schedule, ScheduleExpression, ScheduleTargetInput } from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Schedule as Declared, ScheduleEvent } from '../lib/schedules.ts';
import { acknowledge } from './acknowledge.ts';
import { queueEncryption } from './queue-encryption.ts';
import { RelayFunction, type RelayParts } from './relay-function.ts';

/** By the wall clock; a rate would count from whenever the schedule was deployed. */
const MINUTES: Readonly<Record<Declared['everyMinutes'], string>> = { 1: '*', 15: '0/15', 60: '0' };

/** A function that the clock fires. */
export class ScheduledFunction extends Construct {
  readonly function: NodejsFunction;

  constructor(scope: Construct, id: string, props: RelayParts & { schedule: Declared }) {
    super(scope, id);
    const { schedule, alarms, secrets, queues } = props;
    const { slug, needs, broken } = schedule;
    this.function = new RelayFunction(this, 'Function', {
      ...props,
      slug,
      memoryMegabytes: needs.memoryMegabytes,
      timeout: Duration.seconds(schedule.timeoutSeconds),
      callsService: needs.service,
      throttled: broken,
    }).function;
    secrets.grantRead(this.function, needs.secrets);
    for (const lane of needs.queues) queues[lane].queue.grantSendMessages(this.function);

    // A standard queue: neither Scheduler nor Lambda can use a FIFO queue here.
    const failures = new Queue(this, 'Failures', {
      ...queueEncryption(props.key),
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    acknowledge(failures, 'AwsSolutions-SQS3', 'It is a dead-letter queue itself.');
    // Scheduler's queue has what could not be fired; what fails inside the function goes by Lambda's own destination.
    this.function.configureAsyncInvoke({
      onFailure: new SqsDestination(failures),
      retryAttempts: 2,
      maxEventAge: Duration.minutes(15),
    });
    const role = new Role(this, 'ScheduleRole', { assumedBy: new ServicePrincipal('scheduler.amazonaws.com') });
    role.addToPolicy(
      new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [this.function.functionArn] }),
    );
    failures.grantSendMessages(role);
    const event: ScheduleEvent = { at: ContextAttribute.scheduledTime };
    new Schedule(this, 'Schedule', {
      ...(props.key && { key: props.key }),
      schedule: ScheduleExpression.cron({ minute: MINUTES[schedule.everyMinutes] }),
      target: new LambdaInvoke(this.function, {
        // The target would add every version of the function to the role.
        role: role.withoutPolicyUpdates(),
        input: ScheduleTargetInput.fromObject(event),
        deadLetterQueue: failures,
        retryAttempts: 3,
        maxEventAge: Duration.minutes(15),
      }),
    });
    alarms.add(failures.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum' }), `${slug}-failures`, {
      threshold: 1,
      broken: `${slug} failed three times in a row: ${broken}`,
      todo: 'Read its log; the messages in its failure queue can be deleted once it runs again.',
    });
  }
}
