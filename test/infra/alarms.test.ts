import { readFileSync } from 'node:fs';
import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { alarmsOf } from './lists.ts';
import { customOfEach, everything, propertiesOf, synthesize } from './variants.ts';

describe('an alarm', () => {
  const template = synthesize('prod', everything, customOfEach(1)).template();

  it('goes off as alarms.txt says', async () => {
    await expect(alarmsOf(template)).toMatchFileSnapshot('alarms.txt');
  });

  it('says what is broken for whom and what to do, and reaches the configured recipients', () => {
    for (const { AlarmDescription } of propertiesOf(template, 'CloudWatch::Alarm')) {
      expect(AlarmDescription.length).toBeGreaterThan(80);
      // CloudWatch refuses a longer description, which would fail the deployment.
      expect(AlarmDescription.length).toBeLessThanOrEqual(1024);
    }
    template.hasResourceProperties('AWS::SNS::Subscription', { Protocol: 'email', Endpoint: 'ops@example.com' });
    template.hasResourceProperties('AWS::Chatbot::SlackChannelConfiguration', { SlackChannelId: 'C012345' });
  });

  it('the page about stuck jobs, which each description names, has every alarm', () => {
    const page = readFileSync(new URL('../../docs/stuck.md', import.meta.url), 'utf8');
    const [, section = ''] = page.split('## Alarms');
    const patterns = [...section.matchAll(/`([^`]+)`/g)].map(
      ([, name = '']) => new RegExp(`^partner-relay-prod-${name.replaceAll(/<\w+>/g, '[\\w-]+')}$`),
    );
    const alarms = propertiesOf(template, 'CloudWatch::Alarm');
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
  ] as const)(
    'with %s, more refusals of %s than the service would accept calls set off an alarm',
    (stage, name, metric) => {
      const connections = { main: {}, other: { limits: { perMinute: 60 } } };
      const built = synthesize(stage, { connections }).template();
      const alarm = (what: string, of: object) => {
        const AlarmName = `partner-relay-${stage}-${what}`;
        built.hasResourceProperties('AWS::CloudWatch::Alarm', { AlarmName, ...of });
      };
      alarm(`${name}-4xx`, { ...metric, Threshold: 180, EvaluationPeriods: 5 });
      const MetricName = metric.MetricName.replace('4', '5');
      alarm('github-webhook-5xx', { Namespace: metric.Namespace, MetricName });
    },
  );

  it('watches every function for throttling', () => {
    for (const [id, { Properties }] of Object.entries(template.findResources('AWS::Lambda::Function'))) {
      template.hasResourceProperties('AWS::CloudWatch::Alarm', {
        AlarmName: `${Properties.FunctionName}-throttles`,
        MetricName: 'Throttles',
        Dimensions: [{ Name: 'FunctionName', Value: { Ref: id } }],
      });
    }
  });
});
