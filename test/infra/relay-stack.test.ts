import { App } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, it } from 'vitest';
import { RelayStack } from '../../infra/relay-stack.ts';
import { readStage } from '../../infra/stage.ts';
import { defineConfig, type RelayConfigInput } from '../../lib/config/schema.ts';
import { schedules } from '../../lib/schedules.ts';

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

const templates = new Map<string, Template>();

/** Its template, which takes long to make: nobody may change it. */
function templateOf(stageName: string, config: Partial<RelayConfigInput> = {}): Template {
  const key = JSON.stringify([stageName, config]);
  const template = templates.get(key) ?? synthesize(stageName, config).template();
  templates.set(key, template);
  return template;
}

/** The names of the functions, without those of stack and stage. */
function functions(template: Template): string[] {
  return Object.values(template.findResources('AWS::Lambda::Function'))
    .map(({ Properties }) => Properties.FunctionName.replace(/^partner-relay-(dev|prod)-/, ''))
    .sort();
}

/** What the role of a function may do: each action with the resource that it is for. */
function allowed(template: Template, slug: string): string[] {
  const fn = Object.values(template.findResources('AWS::Lambda::Function')).find(({ Properties }) =>
    Properties.FunctionName.endsWith(slug),
  );
  const role = fn?.Properties.Role['Fn::GetAtt'][0];
  const actions = Object.values(template.findResources('AWS::IAM::Policy'))
    .filter(({ Properties }) => Properties.Roles.some(({ Ref }: { Ref: string }) => Ref === role))
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement as Statement[])
    .flatMap(({ Action, Resource }) =>
      [Action].flat().flatMap((action) => [Resource].flat().map((resource) => `${action} ${JSON.stringify(resource)}`)),
    );
  return [...new Set(actions)].sort();
}

const everything: Partial<RelayConfigInput> = {
  slack: { connection: 'main' },
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
    const scheduled = schedules.map(({ slug }) => slug);
    expect(functions(template)).toEqual(['github-webhook', 'job-worker', ...scheduled].sort());
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
    expect(reserved(templateOf('dev'))).toEqual([]);
    expect(reserved(templateOf('dev', everything))).toEqual([10, 20, 20]);
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
    const template = templateOf('dev');
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
    const secrets = Object.values(templateOf('dev').findResources('AWS::SecretsManager::Secret'));
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
    const template = templateOf('dev');
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
      ...queues(
        'ChangeMessageVisibility',
        'DeleteMessage',
        'GetQueueAttributes',
        'GetQueueUrl',
        'ReceiveMessage',
        'SendMessage',
      ),
      ...xray,
    ]);
    /** The failure queue of a scheduled function, which its role sends to, and whatever else it sends to. */
    const sends = (construct: string, ...others: string[]) =>
      ['GetQueueAttributes', 'GetQueueUrl', 'SendMessage'].flatMap((action) =>
        [...others.map((lane) => `${lane}Queue`), `${construct}[^"]*Failures`].map((queue) =>
          expect.stringMatching(`^sqs:${action} .*"${queue}`),
        ),
      );
    expect(allowed(template, 'job-sweep')).toEqual([
      ...table('GetItem', 'Query'),
      expect.stringMatching(/^dynamodb:Query .*\/index\/jobs-by-status"/),
      ...table('UpdateItem'),
      ...logs,
      ...sends('JobSweep', 'Background', 'Interactive'),
      ...xray,
    ]);
    expect(allowed(template, 'credential-check')).toEqual([
      ...table('DeleteItem', 'GetItem', 'PutItem', 'Query'),
      ...logs,
      ...secrets('github', 'partnermain', 'partnerother'),
      ...sends('CredentialCheck'),
      ...xray,
    ]);
    expect(allowed(template, 'github-redelivery')).toEqual([
      ...table('DeleteItem', 'Query', 'UpdateItem'),
      ...logs,
      ...secrets('github'),
      ...sends('GithubRedelivery'),
      ...xray,
    ]);
    expect(allowed(template, 'timesheet-reminder')).toEqual([
      ...table('GetItem', 'PutItem', 'UpdateItem'),
      ...logs,
      ...sends('TimesheetReminder', 'Background'),
      ...xray,
    ]);
  });

  it('has alarms that say what is broken for whom and what to do, and tells whom the configuration names', () => {
    const template = templateOf('prod', everything);
    const alarms = Object.values(template.findResources('AWS::CloudWatch::Alarm'));
    expect(alarms.map(({ Properties }) => Properties.AlarmName.replace('partner-relay-prod-', '')).sort()).toEqual([
      'background-dead-letters',
      'credential-check-failures',
      'credential-check-github',
      'credential-check-partner-main',
      'credential-check-partner-other',
      'credential-check-slack',
      'credentials-main',
      'credentials-other',
      'day-budget-main',
      'day-budget-other',
      'deliveries-given-up',
      'github-redelivery-failures',
      'github-webhook-5xx',
      'hooks-refused',
      'interactive-dead-letters',
      'job-sweep-failures',
      'job-worker-errors',
      'operations-main',
      'operations-other',
      'overdue-jobs',
      'parked-jobs',
      'paused-main',
      'paused-other',
      'slack-webhook-5xx',
      'timesheet-reminder-failures',
    ]);
    for (const { Properties } of alarms) {
      expect(Properties.AlarmDescription.length).toBeGreaterThan(80);
      expect(Properties.AlarmActions).toHaveLength(1);
    }
    template.hasResourceProperties('AWS::SNS::Subscription', { Protocol: 'email', Endpoint: 'ops@example.com' });
    template.hasResourceProperties('AWS::Chatbot::SlackChannelConfiguration', { SlackChannelId: 'C012345' });
  });

  it.each(['github', 'partner-main', 'slack'])('lets the alarm of %s be until the next check', (party) => {
    templateOf('prod', everything).hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: `partner-relay-prod-credential-check-${party}`,
      TreatMissingData: 'ignore',
      Threshold: 1,
      EvaluationPeriods: 1,
    });
  });

  it.each(schedules.map(({ slug, everyMinutes }) => [slug, { 1: '*', 15: '0/15', 60: '0' }[everyMinutes]] as const))(
    'fires %s at the minutes %s, and keeps what fails before and inside the function',
    (slug, minutes) => {
      const template = templateOf('dev');
      const [id] = Object.keys(
        template.findResources('AWS::Lambda::Function', { Properties: { FunctionName: `partner-relay-dev-${slug}` } }),
      );
      template.hasResourceProperties('AWS::Scheduler::Schedule', {
        ScheduleExpression: `cron(${minutes} * * * ? *)`,
        ScheduleExpressionTimezone: 'Etc/UTC',
        Target: Match.objectLike({
          Arn: { 'Fn::GetAtt': [id, 'Arn'] },
          Input: '{"at":"<aws.scheduler.scheduled-time>"}',
          RetryPolicy: { MaximumRetryAttempts: 3, MaximumEventAgeInSeconds: 900 },
          DeadLetterConfig: Match.anyValue(),
        }),
      });
      template.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
        FunctionName: { Ref: id },
        DestinationConfig: { OnFailure: { Destination: Match.anyValue() } },
      });
      template.hasResourceProperties('AWS::CloudWatch::Alarm', { AlarmName: `partner-relay-dev-${slug}-failures` });
    },
  );

  it('leaves the sweep where it is: in a stack that was deployed before, another place would take its name twice', () => {
    const sweep = { Properties: { FunctionName: 'partner-relay-dev-job-sweep' } };
    const found = templateOf('dev').findResources('AWS::Lambda::Function', sweep);
    expect(Object.keys(found)).toEqual(['JobSweepScheduledFunctionB335160A']);
  });

  it('opens the function URL to everyone, both ways that AWS asks for', () => {
    const template = templateOf('dev');
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
