import { App } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, it } from 'vitest';
import { RelayStack } from '../../infra/relay-stack.ts';
import { readStage } from '../../infra/stage.ts';
import { defineConfig, type RelayConfigInput } from '../../lib/config/schema.ts';

/** The stack, without bundling, which the deployment test does for real. */
function synthesize(stageName: string, config: Partial<RelayConfigInput> = {}) {
  const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } });
  const stack = new RelayStack(app, `partner-relay-${stageName}`, {
    config: defineConfig({ connections: { main: {}, other: {} }, ...config }),
    stage: readStage(stageName),
  });
  return { app, stack, template: () => Template.fromStack(stack) };
}

interface Statement {
  Action: string | string[];
  Resource: unknown;
}

/** What the role of a function may do: each action with the resource that it is for. */
function allowed(template: Template, slug: string): string[] {
  const fn = Object.values(template.findResources('AWS::Lambda::Function')).find(({ Properties }) =>
    Properties.FunctionName.endsWith(slug),
  );
  const role = fn?.Properties.Role['Fn::GetAtt'][0];
  return Object.values(template.findResources('AWS::IAM::Policy'))
    .filter(({ Properties }) => Properties.Roles.some(({ Ref }: { Ref: string }) => Ref === role))
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement as Statement[])
    .flatMap(({ Action, Resource }) =>
      [Action].flat().flatMap((action) => [Resource].flat().map((resource) => `${action} ${JSON.stringify(resource)}`)),
    )
    .sort();
}

const everything: Partial<RelayConfigInput> = {
  deployment: {
    alarms: { emails: ['ops@example.com'], slack: { workspaceId: 'T012345', channelId: 'C012345' } },
    reservedConcurrency: { webhook: 20, worker: 10 },
  },
};

describe('cdk-nag', () => {
  const findings = (app: App) =>
    new AwsSolutionsChecks(app).validateScope(app).violations.map(({ ruleName }) => ruleName);

  it.each(['dev', 'prod'])('has no finding that is not acknowledged with a reason: %s', (stage) => {
    expect(findings(synthesize(stage, everything).app)).toEqual([]);
  });

  it('would have found a queue without TLS', () => {
    const { app, stack } = synthesize('dev');
    new Queue(stack, 'Plain');
    expect(findings(app)).toEqual(['AwsSolutions-SQS3', 'AwsSolutions-SQS4']);
  });
});

describe('the stack', () => {
  it('runs every function on Node 24 and ARM, traced, with JSON logs that are kept for the configured time', () => {
    const template = synthesize('prod', { deployment: { logRetentionDays: 90 } }).template();
    template.resourceCountIs('AWS::Lambda::Function', 3);
    template.allResourcesProperties('AWS::Lambda::Function', {
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      TracingConfig: { Mode: 'Active' },
      LoggingConfig: Match.objectLike({ LogFormat: 'JSON' }),
    });
    template.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 90 });
  });

  it('reserves concurrency only where the configuration says so', () => {
    const reserved = (template: Template) =>
      Object.values(template.findResources('AWS::Lambda::Function'))
        .map(({ Properties }) => Properties.ReservedConcurrentExecutions)
        .filter((value) => value !== undefined)
        .sort();
    expect(reserved(synthesize('dev').template())).toEqual([]);
    expect(reserved(synthesize('dev', everything).template())).toEqual([10, 20]);
  });

  it('brings the worker one message at a time, of each lane as many at once as configured', () => {
    const template = synthesize('dev', {
      deployment: { maxConcurrency: { interactive: 3, background: 7 } },
    }).template();
    for (const MaximumConcurrency of [3, 7]) {
      template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
        BatchSize: 1,
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        ScalingConfig: { MaximumConcurrency },
      });
    }
  });

  it('has FIFO queues that are encrypted, refuse plain HTTP, and set a message aside after a hundred receives', () => {
    const template = synthesize('dev').template();
    for (const lane of ['interactive', 'background']) {
      template.hasResourceProperties('AWS::SQS::Queue', {
        QueueName: `partner-relay-dev-${lane}.fifo`,
        FifoQueue: true,
        SqsManagedSseEnabled: true,
        RedrivePolicy: Match.objectLike({ maxReceiveCount: 100 }),
      });
      template.hasResourceProperties('AWS::SQS::Queue', {
        QueueName: `partner-relay-dev-${lane}-dead.fifo`,
        MessageRetentionPeriod: 14 * 86_400,
      });
    }
    const queues = Object.keys(template.findResources('AWS::SQS::Queue')).length;
    expect(Object.keys(template.findResources('AWS::SQS::QueuePolicy'))).toHaveLength(queues);
    template.allResourcesProperties('AWS::SQS::QueuePolicy', {
      PolicyDocument: Match.objectLike({
        Statement: Match.arrayWith([
          Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
        ]),
      }),
    });
  });

  it.each([
    ['prod', true, 'Retain'],
    ['dev', false, 'Delete'],
  ])('of %s keeps its data accordingly', (stage, kept, policy) => {
    const { stack, template } = synthesize(stage);
    expect(stack.terminationProtection ?? false).toBe(kept);
    const built = template();
    built.hasResource('AWS::DynamoDB::GlobalTable', {
      DeletionPolicy: policy,
      Properties: {
        BillingMode: 'PAY_PER_REQUEST',
        TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
        Replicas: [
          Match.objectLike({
            DeletionProtectionEnabled: kept,
            PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: kept },
          }),
        ],
      },
    });
    built.hasResource('AWS::SecretsManager::Secret', { DeletionPolicy: policy });
  });

  it('creates a secret for each party, and writes none', () => {
    const secrets = Object.values(synthesize('dev').template().findResources('AWS::SecretsManager::Secret'));
    expect(secrets.map(({ Properties }) => Properties.Name)).toEqual([
      'partner-relay/dev/github',
      'partner-relay/dev/partner/main',
      'partner-relay/dev/partner/other',
    ]);
    for (const { Properties } of secrets) {
      expect(Properties).not.toHaveProperty('SecretString');
      expect(Properties).not.toHaveProperty('GenerateSecretString');
    }
  });

  it('lets each function do what it does, and nothing else', () => {
    const template = synthesize('dev').template();
    const logs = [
      expect.stringMatching(/^logs:CreateLogStream .*Log/),
      expect.stringMatching(/^logs:PutLogEvents .*Log/),
    ];
    const xray = ['xray:PutTelemetryRecords "*"', 'xray:PutTraceSegments "*"'];
    const table = (...actions: string[]) =>
      actions.map((action) =>
        expect.stringMatching(`^dynamodb:${action} {"Fn::GetAtt":\\["StateTable[^"]*","Arn"\\]}$`),
      );
    const queues = (...actions: string[]) =>
      actions.flatMap((action) =>
        ['Background', 'Interactive'].map((lane) => expect.stringMatching(`^sqs:${action} .*"${lane}Queue`)),
      );
    const secrets = (...names: string[]) =>
      ['DescribeSecret', 'GetSecretValue'].flatMap((action) =>
        names.map((name) =>
          expect.stringMatching(`^secretsmanager:${action} {"Fn::GetAtt":\\["Secrets${name}[^"]*","Id"\\]}$`),
        ),
      );
    expect(allowed(template, 'github-webhook')).toEqual([
      ...table('GetItem', 'PutItem', 'UpdateItem'),
      ...logs,
      ...secrets('github'),
      ...queues('GetQueueAttributes', 'GetQueueUrl', 'SendMessage'),
      ...xray,
    ]);
    expect(allowed(template, 'job-worker')).toEqual([
      ...table('DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'),
      ...logs,
      ...secrets('github', 'partnermain', 'partnerother'),
      ...queues('ChangeMessageVisibility', 'DeleteMessage', 'GetQueueAttributes', 'GetQueueUrl', 'ReceiveMessage'),
      ...xray,
    ]);
    expect(allowed(template, 'job-sweep')).toEqual([
      ...table('GetItem'),
      expect.stringMatching(/^dynamodb:Query .*\/index\/jobs-by-status"/),
      ...table('UpdateItem'),
      ...logs,
      ...['GetQueueAttributes', 'GetQueueUrl', 'SendMessage'].flatMap((action) => [
        ...queues(action),
        expect.stringMatching(`^sqs:${action} .*"JobSweep[^"]*Failures`),
      ]),
      ...xray,
    ]);
  });

  it('has alarms that say what is broken for whom and what to do, and tells whom the configuration names', () => {
    const template = synthesize('prod', everything).template();
    const alarms = Object.values(template.findResources('AWS::CloudWatch::Alarm'));
    expect(alarms.map(({ Properties }) => Properties.AlarmName.replace('partner-relay-prod-', '')).sort()).toEqual([
      'background-dead-letters',
      'credentials-main',
      'credentials-other',
      'day-budget-main',
      'day-budget-other',
      'github-webhook-5xx',
      'interactive-dead-letters',
      'job-sweep-failures',
      'job-worker-errors',
      'overdue-jobs',
      'parked-jobs',
      'paused-main',
      'paused-other',
    ]);
    for (const { Properties } of alarms) {
      expect(Properties.AlarmDescription.length).toBeGreaterThan(80);
      expect(Properties.AlarmActions).toHaveLength(1);
    }
    template.hasResourceProperties('AWS::SNS::Subscription', { Protocol: 'email', Endpoint: 'ops@example.com' });
    template.hasResourceProperties('AWS::Chatbot::SlackChannelConfiguration', { SlackChannelId: 'C012345' });
  });

  it('fires the sweep every minute, and keeps what fails before and inside the function', () => {
    const template = synthesize('dev').template();
    template.hasResourceProperties('AWS::Scheduler::Schedule', {
      ScheduleExpression: 'rate(1 minute)',
      Target: Match.objectLike({ DeadLetterConfig: Match.anyValue() }),
    });
    template.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
      DestinationConfig: { OnFailure: { Destination: Match.anyValue() } },
    });
  });

  it('opens the function URL to everyone, both ways that AWS asks for', () => {
    const template = synthesize('dev').template();
    template.hasResourceProperties('AWS::Lambda::Permission', { Action: 'lambda:InvokeFunctionUrl', Principal: '*' });
    template.hasResourceProperties('AWS::Lambda::Permission', {
      Action: 'lambda:InvokeFunction',
      Principal: '*',
      InvokedViaFunctionUrl: true,
    });
  });

  it.each(['Prod', '1st', '', 'a'.repeat(21), 'x_y'])('takes no stage that cannot be part of a name: %j', (name) => {
    expect(() => readStage(name)).toThrow(/is no name/);
  });
});
