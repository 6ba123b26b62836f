import { Aws, CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import { CfnSlackChannelConfiguration } from 'aws-cdk-lib/aws-chatbot';
import {
  Alarm,
  type CfnAlarm,
  ComparisonOperator,
  type IMetric,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, Role } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { METRIC_NAMESPACE, type MetricName } from '../lib/state/metrics/metrics.ts';
import { acknowledge } from './acknowledge.ts';
import type { Keyed } from './keyed.ts';
import { ofThisAccount } from './of-this-account.ts';
import type { Running } from './running.ts';
import type { Stage } from './stage.ts';

export interface AlarmText {
  /** The alarm goes off at this value. Default: 1. */
  threshold?: number;
  /** What is broken, and who is affected. */
  broken: string;
  /** What the operator should do. */
  todo: string;
  /** The number of periods in a row, mostly minutes, after which the alarm goes off. Default: 1. */
  periods?: number;
  /** For a metric with gaps: without data, the alarm keeps its state. */
  staysAsItWas?: boolean;
  /** For events that are counted once: no message follows when the count returns to 0. */
  isArrival?: boolean;
  /** For a heartbeat: the alarm goes off below the threshold, and without data. */
  isSignOfLife?: boolean;
}

export interface AlarmsProps extends Keyed {
  stage: Stage;
  emails: readonly string[];
  running: Running;
}

/** The alarm topic and its subscribers. Each construct adds the alarms of its own resources. */
export class Alarms extends Construct {
  readonly #topic: Topic;
  readonly #stage: Stage;
  readonly #running: Running;

  constructor(scope: Construct, id: string, { stage, emails, running, key }: AlarmsProps) {
    super(scope, id);
    this.#stage = stage;
    this.#running = running;
    this.#topic = new Topic(this, 'Topic', {
      displayName: `Partner Relay ${stage.name}`,
      enforceSSL: true,
      ...(key && { masterKey: key }),
    });
    this.#letCloudWatchPublish();
    if (!key) {
      acknowledge(
        this.#topic,
        'AwsSolutions-SNS2',
        'CloudWatch cannot publish to a topic encrypted with the AWS managed key; alarm texts contain no secrets.',
      );
    }
    for (const email of emails) this.#topic.addSubscription(new EmailSubscription(email));
    const { slackAlarms } = stage.settings;
    if (slackAlarms) this.#tellSlack(slackAlarms);
    new CfnOutput(Stack.of(this), 'AlarmTopicArn', {
      value: this.#topic.topicArn,
      description: 'The topic of all alarms, to which more can be attached',
    });
  }

  add(metric: IMetric, name: string, text: AlarmText): void {
    const { threshold = 1, broken, todo, periods = 1, staysAsItWas, isArrival, isSignOfLife } = text;
    const alarm = new Alarm(this, name, {
      alarmName: `${Stack.of(this).stackName}-${name}`,
      alarmDescription: `${broken} ${todo} See docs/stuck.md#alarms.`,
      metric,
      threshold,
      comparisonOperator: isSignOfLife
        ? ComparisonOperator.LESS_THAN_THRESHOLD
        : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: periods,
      treatMissingData: staysAsItWas ? TreatMissingData.IGNORE : TreatMissingData.NOT_BREACHING,
    });
    // A stopped stage sends no heartbeat, but nothing is broken.
    const { node } = alarm;
    if (isSignOfLife)
      (node.defaultChild as CfnAlarm).treatMissingData = this.#running.either('breaching', 'notBreaching').toString();
    alarm.addAlarmAction(new SnsAction(this.#topic));
    if (!isArrival) alarm.addOkAction(new SnsAction(this.#topic));
  }

  /** A metric that the functions record. */
  metric(metricName: MetricName, statistic: 'Maximum' | 'Sum', minutes = 1): Metric {
    return relayMetric(this.#stage, metricName, statistic, minutes);
  }

  /**
   * Lets CloudWatch publish. A topic without a policy allows it for the same account, but `enforceSSL` adds a policy,
   * which replaces that default. https://repost.aws/knowledge-center/cloudwatch-receive-sns-for-alarm-trigger
   */
  #letCloudWatchPublish(): void {
    this.#topic.addToResourcePolicy(
      new PolicyStatement({
        sid: 'CloudWatchAlarms',
        principals: [ofThisAccount('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [this.#topic.topicArn],
      }),
    );
  }

  #tellSlack({ workspaceId, channelId }: NonNullable<Stage['settings']['slackAlarms']>): void {
    const role = new Role(this, 'SlackRole', { assumedBy: ofThisAccount('chatbot.amazonaws.com') });
    role.addToPolicy(
      // To show the alarm's graph. CloudWatch supports only the resource * for these actions.
      new PolicyStatement({ actions: ['cloudwatch:GetMetricData', 'cloudwatch:DescribeAlarms'], resources: ['*'] }),
    );
    acknowledge(role, 'AwsSolutions-IAM5[Resource::*]', 'CloudWatch has no narrower resource for reading metrics.');
    new CfnSlackChannelConfiguration(this, 'Slack', {
      // The name is global, but each region has its own topic. AWS accepts each channel only once per account:
      // https://github.com/aws-samples/aws-securityhub-to-slack/pull/11
      // https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/1155
      configurationName: `${Aws.STACK_NAME}-${Aws.REGION}-alarms`,
      slackWorkspaceId: workspaceId,
      slackChannelId: channelId,
      iamRoleArn: role.roleArn,
      snsTopicArns: [this.#topic.topicArn],
      // The channel may only read, even if the role later allows more.
      guardrailPolicies: [`arn:${Aws.PARTITION}:iam::aws:policy/CloudWatchReadOnlyAccess`],
    });
  }
}

/** A metric of lib/state/metrics/metrics.ts. */
export function relayMetric(stage: Stage, metricName: MetricName, statistic: string, minutes = 1): Metric {
  return new Metric({
    namespace: METRIC_NAMESPACE,
    metricName,
    dimensionsMap: { Stage: stage.name },
    statistic,
    period: Duration.minutes(minutes),
  });
}
