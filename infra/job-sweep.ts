import { Duration } from 'aws-cdk-lib';
import type { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { Construct } from 'constructs';
import type { RelayParts } from './relay-function.ts';
import { ScheduledFunction } from './scheduled-function.ts';

/** The sweep, and the alarms on what it records of the relay's state. */
export class JobSweep extends Construct {
  readonly function: NodejsFunction;

  constructor(scope: Construct, id: string, props: RelayParts & { connections: readonly string[] }) {
    super(scope, id);
    const { queues, alarms, connections } = props;
    this.function = new ScheduledFunction(this, 'Scheduled', {
      ...props,
      slug: 'job-sweep',
      schedule: ScheduleExpression.rate(Duration.minutes(1)),
      memoryMegabytes: 256,
      // A sweep queues up to 1,500 jobs.
      timeout: Duration.seconds(55),
      tableAccess: { items: ['GetItem', 'UpdateItem'], index: true },
      broken: 'jobs whose message was lost, or whose time has come, do not go on.',
    }).function;
    for (const { queue } of Object.values(queues)) queue.grantSendMessages(this.function);

    alarms.add(alarms.metric('OldestOverdue', 'Maximum'), 'overdue-jobs', {
      threshold: 900,
      minutes: 3,
      broken: 'A job should have gone on a quarter of an hour ago: events reach the service late, or not at all.',
      todo: 'Are job-sweep and job-worker running, and is the connection paused? relay --stage <stage> budget says so.',
    });
    for (const connection of connections) {
      alarms.add(alarms.metric('ConnectionPaused', 'Maximum', connection), `paused-${connection}`, {
        threshold: 1,
        minutes: 5,
        broken: `The connection ${connection} has been paused for five minutes: nothing reaches that instance.`,
        todo: 'Does another program use the same key, or is the instance down? It goes on by itself.',
      });
      alarms.add(alarms.metric('CredentialsRefused', 'Sum', connection), `credentials-${connection}`, {
        threshold: 1,
        broken: `The service refuses the key of the connection ${connection}: nothing reaches that instance.`,
        todo: `Was it rotated or revoked? Enter the new one with relay --stage <stage> secrets set partner/${connection}.`,
      });
      alarms.add(alarms.metric('DayBudgetUsed', 'Maximum', connection), `day-budget-${connection}`, {
        threshold: 80,
        broken: `More than 80% of the day's calls of the connection ${connection} are used: soon jobs will wait until tomorrow.`,
        todo: 'relay --stage <stage> jobs shows what uses them; ask for a higher limit, or follow fewer labels.',
      });
    }
  }
}
