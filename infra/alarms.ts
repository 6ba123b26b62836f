import { Aws, Duration, Stack } from 'aws-cdk-lib';
import { CfnSlackChannelConfiguration } from 'aws-cdk-lib/aws-chatbot';
import { Alarm, ComparisonOperator, type IMetric, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { RelayConfig } from '../lib/config/schema.ts';
import { METRIC_NAMESPACE, type MetricName } from '../lib/state/metrics/metrics.ts';
import { acknowledge } from './acknowledge.ts';
import type { Keyed } from './keyed.ts';
import type { Stage } from './stage.ts';

export interface AlarmText {
  /** The alarm goes off at this value. */
  threshold: number;
  /** What is broken, and who is affected. */
  broken: string;
  /** What the operator should do. */
  todo: string;
  /** The alarm goes off after this many periods of the metric in a row, mostly minutes. Default: 1. */
  periods?: number;
  /** For a metric with gaps: while there is no data, the alarm keeps its state. */
  staysAsItWas?: boolean;
  /** For a heartbeat: the alarm goes off below the threshold, and if there is no data. */
  isSignOfLife?: boolean;
}

export interface AlarmsProps extends Keyed {
  stage: Stage;
  to: RelayConfig['deployment']['alarms'];
}

/** The alarm topic and its subscribers. Each construct adds the alarms of the resources it owns. */
export class Alarms extends Construct {
  readonly #topic: Topic;
  readonly #stage: Stage;

  constructor(scope: Construct, id: string, { stage, to, key }: AlarmsProps) {
    super(scope, id);
    this.#stage = stage;
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
    for (const email of to.emails) this.#topic.addSubscription(new EmailSubscription(email));
    if (to.slack) this.#tellSlack(to.slack);
  }

  add(metric: IMetric, name: string, text: AlarmText): void {
    const { threshold, broken, todo, periods = 1, staysAsItWas = false, isSignOfLife = false } = text;
    const alarm = new Alarm(this, name, {
      alarmName: `${Stack.of(this).stackName}-${name}`,
      alarmDescription: `${broken} ${todo} See docs/stuck.md#alarms.`,
      metric,
      threshold,
      comparisonOperator: isSignOfLife
        ? ComparisonOperator.LESS_THAN_THRESHOLD
        : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: periods,
      treatMissingData: whereMissing({ staysAsItWas, isSignOfLife }),
    });
    alarm.addAlarmAction(new SnsAction(this.#topic));
    alarm.addOkAction(new SnsAction(this.#topic));
  }

  /** A metric that the functions record, per minute. */
  metric(metricName: MetricName, statistic: 'Maximum' | 'Sum'): Metric {
    return relayMetric(this.#stage, metricName, statistic);
  }

  /**
   * A topic without a policy lets CloudWatch of the same account publish. `enforceSSL` adds a policy, which replaces that
   * default. https://repost.aws/knowledge-center/cloudwatch-receive-sns-for-alarm-trigger
   */
  #letCloudWatchPublish(): void {
    this.#topic.addToResourcePolicy(
      new PolicyStatement({
        sid: 'CloudWatchAlarms',
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [this.#topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
    );
  }

  #tellSlack({ workspaceId, channelId }: { workspaceId: string; channelId: string }): void {
    const role = new Role(this, 'SlackRole', { assumedBy: new ServicePrincipal('chatbot.amazonaws.com') });
    role.addToPolicy(
      // To show the alarm's graph. CloudWatch supports only the resource * for these actions.
      new PolicyStatement({ actions: ['cloudwatch:GetMetricData', 'cloudwatch:DescribeAlarms'], resources: ['*'] }),
    );
    acknowledge(role, 'AwsSolutions-IAM5[Resource::*]', 'CloudWatch has no narrower resource for reading metrics.');
    new CfnSlackChannelConfiguration(this, 'Slack', {
      configurationName: `${Aws.STACK_NAME}-alarms`,
      slackWorkspaceId: workspaceId,
      slackChannelId: channelId,
      iamRoleArn: role.roleArn,
      snsTopicArns: [this.#topic.topicArn],
      // The channel may only read, even if the role later allows more.
      guardrailPolicies: [`arn:${Aws.PARTITION}:iam::aws:policy/CloudWatchReadOnlyAccess`],
    });
  }
}

function whereMissing({ staysAsItWas, isSignOfLife }: { staysAsItWas: boolean; isSignOfLife: boolean }) {
  if (isSignOfLife) return TreatMissingData.BREACHING;
  return staysAsItWas ? TreatMissingData.IGNORE : TreatMissingData.NOT_BREACHING;
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
