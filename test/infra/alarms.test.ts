import { readFileSync } from 'node:fs';
import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { schedules } from '../../lib/schedules.ts';
import { everything, synthesize } from './variants.ts';

describe('alarms', () => {
  const template = synthesize('prod', everything).template();

  it('alarms say what is broken for whom and what to do, and reach the configured recipients', () => {
    const alarms = Object.values(template.findResources('AWS::CloudWatch::Alarm'));
    expect(alarms.map(({ Properties }) => Properties.AlarmName.replace('partner-relay-prod-', '')).sort()).toEqual([
      'account-link-4xx',
      'account-link-5xx',
      'account-link-throttles',
      'background-oldest-message',
      'connection-paused',
      'credential-check-failures',
      'credential-check-github',
      'credential-check-not-run',
      'credential-check-partner',
      'credential-check-slack',
      'credential-check-throttles',
      'credentials-refused',
      'day-budget',
      'dead-letters',
      'deliveries-given-up',
      'github-redelivery-failures',
      'github-redelivery-not-run',
      'github-redelivery-throttles',
      'github-webhook-4xx',
      'github-webhook-5xx',
      'github-webhook-throttles',
      'heartbeat',
      'hooks-refused',
      'interactive-oldest-message',
      'job-sweep-failures',
      'job-sweep-throttles',
      'job-worker-errors',
      'job-worker-throttles',
      'newer-items',
      'operations-stopped',
      'overdue-jobs',
      'parked-jobs',
      'slack-webhook-4xx',
      'slack-webhook-5xx',
      'slack-webhook-throttles',
      'strangers-wait',
      'table-throttles-DeleteItem',
      'table-throttles-GetItem',
      'table-throttles-PutItem',
      'table-throttles-Query',
      'table-throttles-UpdateItem',
      'timesheet-reminder-failures',
      'timesheet-reminder-not-run',
      'timesheet-reminder-throttles',
    ]);
    for (const { Properties } of alarms) {
      expect(Properties.AlarmDescription.length).toBeGreaterThan(80);
      // CloudWatch cuts nothing: a longer description fails the deployment.
      expect(Properties.AlarmDescription.length).toBeLessThanOrEqual(1024);
      expect(Properties.AlarmActions).toHaveLength(1);
    }
    template.hasResourceProperties('AWS::SNS::Subscription', { Protocol: 'email', Endpoint: 'ops@example.com' });
    template.hasResourceProperties('AWS::Chatbot::SlackChannelConfiguration', { SlackChannelId: 'C012345' });
  });

  it('an alarm goes off at the first of what it counts, or as late as its description says', () => {
    const alarms = Object.values(template.findResources('AWS::CloudWatch::Alarm')).map(({ Properties }) => Properties);
    const late = alarms.filter(({ Threshold, EvaluationPeriods }) => Threshold !== 1 || EvaluationPeriods !== 1);
    const inWords = late.map(
      ({ AlarmName, Threshold, EvaluationPeriods }) =>
        `${AlarmName.replace('partner-relay-prod-', '')}: ${Threshold} in ${EvaluationPeriods}`,
    );
    expect(inWords.filter((one) => !/^(table-throttles-|.*-not-run: )/.test(one)).sort()).toEqual([
      'account-link-4xx: 240 in 5',
      'background-oldest-message: 900 in 3',
      'day-budget: 80 in 1',
      'github-webhook-4xx: 240 in 5',
      'heartbeat: 1 in 5',
      'interactive-oldest-message: 900 in 3',
      'newer-items: 1 in 3',
      'overdue-jobs: 900 in 3',
      'slack-webhook-4xx: 240 in 5',
    ]);
  });

  it('what is new is told, and not that nothing is new', () => {
    const alarms = Object.values(template.findResources('AWS::CloudWatch::Alarm')).map(({ Properties }) => Properties);
    const news = alarms.filter(({ OKActions }) => !OKActions);
    expect(news.map(({ AlarmName }) => AlarmName.replace('partner-relay-prod-', '')).sort()).toEqual([
      'connection-paused',
      'credential-check-failures',
      'credential-check-partner',
      'credentials-refused',
      'dead-letters',
      'github-redelivery-failures',
      'job-sweep-failures',
      'operations-stopped',
      'parked-jobs',
      'timesheet-reminder-failures',
    ]);
    for (const { Statistic, MetricName } of news) {
      expect(Statistic).toBe('Sum');
      expect(MetricName).toMatch(/^(Newly\w+|JobsParked|NumberOfMessagesSent)$/);
    }
  });

  it('the page about what is stuck, which each description names, has every alarm', () => {
    const page = readFileSync(new URL('../../docs/stuck.md', import.meta.url), 'utf8');
    const [, section = ''] = page.split('## Alarms');
    const patterns = [...section.matchAll(/`([^`]+)`/g)].map(
      ([, name = '']) => new RegExp(`^partner-relay-prod-${name.replaceAll(/<\w+>/g, '[\\w-]+')}$`),
    );
    const alarms = Object.values(template.findResources('AWS::CloudWatch::Alarm')).map(({ Properties }) => Properties);
    expect(alarms.filter(({ AlarmName }) => !patterns.some((one) => one.test(AlarmName)))).toEqual([]);
    for (const { AlarmDescription } of alarms) expect(AlarmDescription).toContain('docs/stuck.md#alarms');
  });

  it("only this account's CloudWatch may publish alarms, and only over TLS", () => {
    const [topic] = Object.keys(template.findResources('AWS::SNS::Topic'));
    template.hasResourceProperties('AWS::SNS::TopicPolicy', {
      Topics: [{ Ref: topic }],
      PolicyDocument: Match.objectLike({
        Statement: Match.arrayWith([
          Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
          Match.objectLike({
            Effect: 'Allow',
            Principal: { Service: 'cloudwatch.amazonaws.com' },
            Action: 'sns:Publish',
            Resource: { Ref: topic },
            Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
          }),
        ]),
      }),
    });
  });

  it.each([
    ['prod', 'github-webhook', { Namespace: 'AWS/Lambda', MetricName: 'Url4xxCount' }],
    ['http-api', 'http-api', { Namespace: 'AWS/ApiGateway', MetricName: '4xx' }],
  ] as const)('on %s, more refusals of %s than the service takes calls set off an alarm', (stage, name, metric) => {
    const connections = { main: {}, other: { limits: { perMinute: 60 } } };
    synthesize(stage, { connections })
      .template()
      .hasResourceProperties('AWS::CloudWatch::Alarm', {
        AlarmName: `partner-relay-${stage}-${name}-4xx`,
        ...metric,
        Threshold: 180,
        EvaluationPeriods: 5,
      });
  });

  it.each(['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query'])(
    'throttled requests of %s set off an alarm',
    (Value) => {
      template.hasResourceProperties('AWS::CloudWatch::Alarm', {
        MetricName: 'ThrottledRequests',
        Dimensions: Match.arrayWith([{ Name: 'Operation', Value }]),
        EvaluationPeriods: 3,
      });
    },
  );

  it.each(schedules.filter(({ slug }) => slug !== 'job-sweep'))(
    'an alarm goes off if $slug does not run three times, as if its schedule is disabled',
    ({ slug, everyMinutes }) => {
      const name = `partner-relay-prod-${slug}`;
      const [id] = Object.keys(template.findResources('AWS::Lambda::Function', { Properties: { FunctionName: name } }));
      template.hasResourceProperties('AWS::CloudWatch::Alarm', {
        AlarmName: `${name}-not-run`,
        Namespace: 'AWS/Lambda',
        MetricName: 'Invocations',
        Dimensions: [{ Name: 'FunctionName', Value: { Ref: id } }],
        Statistic: 'Sum',
        Period: everyMinutes * 60,
        EvaluationPeriods: 3,
        Threshold: 1,
        ComparisonOperator: 'LessThanThreshold',
        TreatMissingData: { 'Fn::If': [Match.anyValue(), 'breaching', 'notBreaching'] },
      });
    },
  );

  it('an alarm goes off if the sweep records no heartbeat', () => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: 'partner-relay-prod-heartbeat',
      MetricName: 'Heartbeat',
      ComparisonOperator: 'LessThanThreshold',
      Threshold: 1,
      TreatMissingData: { 'Fn::If': [Match.anyValue(), 'breaching', 'notBreaching'] },
    });
  });

  it('an alarm goes off if a message is older than it becomes while workers run', () => {
    for (const [lane, queue] of [
      ['interactive', '^InteractiveQueue'],
      ['background', '^BackgroundQueue'],
    ] as const) {
      template.hasResourceProperties('AWS::CloudWatch::Alarm', {
        AlarmName: `partner-relay-prod-${lane}-oldest-message`,
        MetricName: 'ApproximateAgeOfOldestMessage',
        Dimensions: [{ Name: 'QueueName', Value: { 'Fn::GetAtt': [Match.stringLikeRegexp(queue), 'QueueName'] } }],
        Threshold: 900,
      });
    }
  });

  it('alarms watch every function for throttling', () => {
    for (const [id, { Properties }] of Object.entries(template.findResources('AWS::Lambda::Function'))) {
      template.hasResourceProperties('AWS::CloudWatch::Alarm', {
        AlarmName: `${Properties.FunctionName}-throttles`,
        MetricName: 'Throttles',
        Dimensions: [{ Name: 'FunctionName', Value: { Ref: id } }],
      });
    }
  });

  it.each(['github', 'slack'])('alarms of %s keep their state until the next check', (secret) => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: `partner-relay-prod-credential-check-${secret}`,
      TreatMissingData: 'ignore',
      Threshold: 1,
      EvaluationPeriods: 1,
    });
  });
});
