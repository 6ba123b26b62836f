import { Stack } from 'aws-cdk-lib';
import { Dashboard as CloudWatchDashboard, GraphWidget, type IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { MetricName } from '../lib/state/metrics/metrics.ts';
import { relayMetric } from './alarms.ts';
import type { Stage } from './stage.ts';

export interface DashboardProps {
  stage: Stage;
  functions: readonly IFunction[];
  deadLetters: readonly IQueue[];
  /** The queues of failed schedules. */
  failures: readonly IQueue[];
}

export class Dashboard extends Construct {
  readonly name: string;

  constructor(scope: Construct, id: string, { stage, functions, deadLetters, failures }: DashboardProps) {
    super(scope, id);
    const { stackName, region } = Stack.of(this);
    // Dashboard names are unique per account, not per region.
    this.name = `${stackName}-${region}`;
    const metric = (name: MetricName, statistic: string) => relayMetric(stage, name, statistic, 5);
    const sums = (...names: MetricName[]) => names.map((name) => metric(name, 'Sum'));
    const graph = (title: string, left: IMetric[], limit?: number) =>
      new GraphWidget({
        title,
        left,
        width: 12,
        leftYAxis: { min: 0 },
        ...(limit !== undefined && { leftAnnotations: [{ value: limit, label: 'limit' }] }),
      });

    const dashboard = new CloudWatchDashboard(this, 'Dashboard', { dashboardName: this.name });
    dashboard.addWidgets(
      graph('Events in', sums('EventsReceived', 'EventsTaken')),
      graph('Jobs by outcome', sums('JobsSucceeded', 'JobsParked', 'StepsFailed')),
      graph('Minute limit used by the busiest connection (%)', [metric('MinuteBudgetUsed', 'Maximum')], 100),
      graph('Day limit used by the busiest connection (%)', [metric('DayBudgetUsed', 'Maximum')], 100),
      graph('From event to operation (ms)', [metric('EventToOperation', 'p50'), metric('EventToOperation', 'p99')]),
      graph("From a person's command in Slack to its outcome (ms)", [
        metric('SlackReply', 'p50'),
        metric('SlackReply', 'p99'),
      ]),
      graph('Now: parked jobs, and longest overdue (s)', [
        metric('ParkedJobs', 'Maximum'),
        metric('OldestOverdue', 'Maximum'),
        metric('OldestQueued', 'Maximum'),
      ]),
      graph(
        'Now: dead letters, and schedules that failed',
        [...deadLetters, ...failures].map((queue) =>
          queue.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum' }),
        ),
      ),
      graph('429, refused keys, pauses', [
        ...sums('RateLimited', 'CredentialsRefused'),
        metric('ConnectionPaused', 'Maximum'),
        metric('OperationsStopped', 'Maximum'),
      ]),
      graph('Credentials that failed the last check', [
        metric('ConnectionCredentialsFail', 'Maximum'),
        metric('GithubCredentialsFail', 'Maximum'),
        metric('SlackCredentialsFail', 'Maximum'),
      ]),
      graph(
        'Duration of the functions, p99 (ms)',
        functions.map((fn) => fn.metricDuration({ statistic: 'p99' })),
      ),
    );
  }
}
