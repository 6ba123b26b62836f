import type { App } from 'aws-cdk-lib';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, it } from 'vitest';
import { readStage } from '../../infra/stage.ts';
import { defineConfig, type RelayConfigInput } from '../../lib/config/schema.ts';
import { schedules } from '../../lib/schedules.ts';
import { teamInput } from '../timesheets/team.ts';
import { statementsOf } from './rights-table.ts';
import { everything, ownOfEach, type StageName, stages, synthesize } from './variants.ts';

const templates = new Map<string, Template>();

/** The template is shared between tests because it is slow to make; do not change it. */
function templateOf(stageName: StageName, config: Partial<RelayConfigInput> = {}): Template {
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

describe('cdk-nag', () => {
  const findings = (app: App) =>
    new AwsSolutionsChecks(app).validateScope(app).violations.map(({ ruleName }) => ruleName);

  it.each(Object.keys(stages) as StageName[])('every cdk-nag finding is acknowledged with a reason: %s', (stage) => {
    expect(findings(synthesize(stage, everything, ownOfEach(1)).app)).toEqual([]);
  });

  it('cdk-nag finds a queue without TLS', () => {
    const { app, stack } = synthesize('dev');
    new Queue(stack, 'Plain');
    expect(findings(app)).toEqual(['AwsSolutions-SQS3', 'AwsSolutions-SQS4']);
  });
});

/** Quotas of CloudFormation and IAM. */
const MOST_RESOURCES = 500;
const MOST_OF_TEMPLATE = 1_000_000;
const MOST_OF_ROLE = 10_240;
const MOST_OF_MANAGED_POLICY = 6_144;

describe('a hundred connections', () => {
  const connections = Object.fromEntries(
    Array.from({ length: 100 }, (_, index) => [`customer-${index}`, { mcp: { accounts: 'offered' as const } }]),
  );
  const connection = 'customer-0';
  const timesheets = { teams: [{ ...teamInput, connection }] };
  const template = synthesize('company', { ...everything, connections, slack: { connection }, timesheets }).template();
  const sizeOf = (document: unknown) => JSON.stringify(document).replaceAll(/\s/g, '').length;

  it('fit into one stack, in a company account with linked accounts', () => {
    const { Resources } = template.toJSON();
    expect(Object.keys(Resources).length).toBeLessThanOrEqual(MOST_RESOURCES);
    expect(JSON.stringify(template.toJSON()).length).toBeLessThan(MOST_OF_TEMPLATE);
  });

  it('need no larger policy than one connection', () => {
    const documents = (type: string) =>
      Object.values(template.findResources(type)).map(({ Properties }) => sizeOf(Properties.PolicyDocument));
    expect(Math.max(...documents('AWS::IAM::ManagedPolicy'))).toBeLessThanOrEqual(MOST_OF_MANAGED_POLICY);
    expect(Math.max(...documents('AWS::IAM::Policy'))).toBeLessThanOrEqual(MOST_OF_ROLE);
  });
});

it('twenty automations of a team need no more resources than one of each kind', () => {
  const resources = (count: number) =>
    Object.keys(synthesize('company', everything, ownOfEach(count)).template().toJSON().Resources);
  expect(resources(5)).toEqual(resources(1));
});

describe('the stack', () => {
  it('every function runs on Node 24 and ARM, with JSON logs kept for the configured time', () => {
    const template = synthesize('prod', { deployment: { logRetentionDays: 90 } }).template();
    const scheduled = schedules.map(({ slug }) => slug);
    expect(functions(template)).toEqual(['github-webhook', 'job-worker', ...scheduled].sort());
    template.allResourcesProperties('AWS::Lambda::Function', {
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      TracingConfig: Match.absent(),
      LoggingConfig: Match.objectLike({ LogFormat: 'JSON' }),
    });
    template.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 90 });
  });

  it('an existing table takes the place of the own one, in the functions, their rights and the outputs', () => {
    const template = templateOf('existing-table', everything);
    const name = 'partner-relay-restored';
    template.resourceCountIs('AWS::DynamoDB::GlobalTable', 0);
    template.allResourcesProperties('AWS::Lambda::Function', {
      Environment: { Variables: Match.objectLike({ TABLE_NAME: name }) },
    });
    template.hasOutput('TableName', { Value: name });
    const policies = JSON.stringify(template.findResources('AWS::IAM::Policy'));
    expect(policies).toContain(`:table/${name}"`);
    expect(policies).toContain(`:table/${name}/index/`);
    const others = (of: Template) =>
      Object.keys(of.toJSON().Resources)
        .filter((id) => !id.startsWith('StateTable'))
        .sort();
    expect(others(template)).toEqual(others(templateOf('prod', everything)));
  });

  it('every function may decrypt with the former key what waits, and nothing else', () => {
    const { kmsKeyArn = '' } = stages.rules;
    const formerKmsKeyArn = kmsKeyArn.replace('key/1234', 'key/9999');
    const template = templateOf('rules', { deployment: { stages: { rules: { ...stages.rules, formerKmsKeyArn } } } });
    for (const slug of ['github-webhook', 'job-worker', ...schedules.map((one) => one.slug)]) {
      const ofKey = statementsOf(template, slug).filter(({ Resource }) => Resource === formerKmsKeyArn);
      expect(ofKey).toMatchObject([{ Action: 'kms:Decrypt', Condition: expect.anything() }]);
    }
  });

  it('a replica of the key of markers is kept in another region', () => {
    const template = templateOf('prod', {
      ...everything,
      deployment: { ...everything.deployment, stages: { prod: { protected: true, replicaRegion: 'eu-west-1' } } },
    });
    const replicated = Object.values(template.findResources('AWS::SecretsManager::Secret')).filter(
      ({ Properties }) => Properties.ReplicaRegions,
    );
    expect(replicated).toMatchObject([
      { Properties: { Name: 'partner-relay/prod/markers', ReplicaRegions: [{ Region: 'eu-west-1' }] } },
    ]);
  });

  it.each([
    [10, 2, 2],
    [16, 4, 4],
    [1_000, 5, 5],
  ])('in an account with %i executions, the lanes have %i and %i workers', (accountConcurrency, ...workers) => {
    const template = templateOf('dev', { deployment: { stages: { dev: { accountConcurrency } } } });
    const sources = Object.values(template.findResources('AWS::Lambda::EventSourceMapping'));
    expect(sources.map(({ Properties }) => Properties.ScalingConfig.MaximumConcurrency)).toEqual(workers);
  });

  it('secrets that exist are used and left alone', () => {
    const existing = ['markers', 'partner/main'];
    const stage = { protected: true, existingSecrets: existing };
    const made = templateOf('prod', {
      ...everything,
      deployment: { ...everything.deployment, stages: { prod: stage } },
    });
    const names = Object.values(made.findResources('AWS::SecretsManager::Secret')).map(
      ({ Properties }) => Properties.Name,
    );
    const before = made.toJSON().Outputs.SecretNames.Value.split(' ');
    expect(before.filter((name: string) => !names.includes(name))).toEqual(
      existing.map((name) => `partner-relay/prod/${name}`),
    );
    const worker = JSON.stringify(statementsOf(made, 'job-worker'));
    for (const place of ['markers-??????', 'partner/*'])
      expect(worker).toContain(`:secret:partner-relay/prod/${place}"`);
  });

  it('a secret that the stage does not have cannot exist already', () => {
    const stages = { prod: { existingSecrets: ['partner/gone'] } };
    expect(() => templateOf('prod', { deployment: { stages } })).toThrow(
      /existingSecrets names partner\/gone; the secrets/,
    );
  });

  it('what holds data keeps its logical id, or a deployment would replace it with an empty one', () => {
    const { Resources } = templateOf('prod', everything).toJSON();
    const stateful = Object.entries<{ Type: string; Properties: { Name?: string; QueueName?: string } }>(Resources)
      .filter(([, { Type }]) => /^AWS::(DynamoDB|SQS::Queue$|SecretsManager)/.test(Type))
      .map(
        ([
          id,
          {
            Properties: { Name, QueueName },
          },
        ]) => [id, Name ?? QueueName ?? 'without a name'],
      );
    expect(Object.fromEntries(stateful)).toMatchInlineSnapshot(`
      {
        "BackgroundQueue051A18DC": "partner-relay-prod-background.fifo",
        "BackgroundQueueDeadLetters05E7B647": "partner-relay-prod-background-dead.fifo",
        "CredentialCheckScheduledFailures046B2ECE": "without a name",
        "DueSchedulesScheduledFailuresA4729A98": "without a name",
        "GithubRedeliveryScheduledFailures7BC22E9D": "without a name",
        "InteractiveQueue64D5FE13": "partner-relay-prod-interactive.fifo",
        "InteractiveQueueDeadLettersE6177D40": "partner-relay-prod-interactive-dead.fifo",
        "JobSweepScheduledFailures409E558E": "without a name",
        "Secretscalendarplatform04C7B3B5": "partner-relay/prod/calendar/platform",
        "SecretsgithubB0870F91": "partner-relay/prod/github",
        "Secretsgithubwebhook55F3A86A": "partner-relay/prod/github-webhook",
        "SecretsgrantsC971DF0E": "partner-relay/prod/grants",
        "Secretsinstancemain15F18E99": "partner-relay/prod/instance/main",
        "SecretsinstanceotherB2032F54": "partner-relay/prod/instance/other",
        "SecretsintakeEFF849A7": "partner-relay/prod/intake",
        "Secretsmarkers77D51D7D": "partner-relay/prod/markers",
        "Secretspartnermain1F64691A": "partner-relay/prod/partner/main",
        "Secretspartnerother15CE90C5": "partner-relay/prod/partner/other",
        "Secretsslack22874339": "partner-relay/prod/slack",
        "StateTable8C4E6068": "without a name",
      }
    `);
  });

  it('services but Lambda take a role only for this account', () => {
    const roles = Object.values(templateOf('prod', everything).findResources('AWS::IAM::Role'));
    const others = roles
      .flatMap(({ Properties }) => Properties.AssumeRolePolicyDocument.Statement)
      .filter(({ Principal }) => Principal.Service !== 'lambda.amazonaws.com');
    expect(new Set(others.map(({ Principal }) => Principal.Service))).toEqual(
      new Set(['chatbot.amazonaws.com', 'scheduler.amazonaws.com']),
    );
    for (const { Condition } of others)
      expect(Condition).toEqual({ StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } });
  });

  it('an upgrade updates what reads new items before the webhooks, which write the first', () => {
    const template = templateOf('prod', everything);
    const idOf = (slug: string) =>
      Object.keys(
        template.findResources('AWS::Lambda::Function', { Properties: { FunctionName: `partner-relay-prod-${slug}` } }),
      );
    const readers = ['job-worker', ...schedules.map(({ slug }) => slug)].flatMap(idOf);
    for (const webhook of ['github-webhook', 'slack-webhook'].flatMap(idOf))
      template.hasResource('AWS::Lambda::Function', {
        DependsOn: Match.arrayWith(readers.sort()),
        Properties: { FunctionName: template.toJSON().Resources[webhook].Properties.FunctionName },
      });
  });

  it('each region has its own configuration of a Slack channel, and links lead to the console of its partition', () => {
    const template = templateOf('prod', everything);
    template.hasResourceProperties('AWS::Chatbot::SlackChannelConfiguration', {
      ConfigurationName: { 'Fn::Join': ['', [Match.anyValue(), '-', { Ref: 'AWS::Region' }, '-alarms']] },
    });
    template.hasOutput('AlarmTopicArn', {});
    for (const link of ['DashboardLink', 'LogsLink', 'TableLink', 'SecretsLink'])
      expect(JSON.stringify(template.toJSON().Outputs[link])).toContain('{"Fn::FindInMap":["ConsoleHosts",');
  });

  it('only the worker may be invoked by its own messages again and again', () => {
    const template = templateOf('dev');
    template.resourcePropertiesCountIs('AWS::Lambda::Function', { RecursiveLoop: 'Allow' }, 1);
    template.hasResourceProperties('AWS::Lambda::Function', {
      FunctionName: 'partner-relay-dev-job-worker',
      RecursiveLoop: 'Allow',
    });
  });

  it('while it is stopped, nothing works on what the webhooks keep, and no schedule fires', () => {
    const template = templateOf('dev');
    template.hasParameter('Running', { Default: 'true' });
    const either = (running: unknown, stopped: unknown) => ({
      'Fn::If': [Match.stringLikeRegexp('IsRunning'), running, stopped],
    });
    template.allResourcesProperties('AWS::Lambda::EventSourceMapping', { Enabled: either(true, false) });
    template.allResourcesProperties('AWS::Scheduler::Schedule', { State: either('ENABLED', 'DISABLED') });
  });

  it('each region has its own dashboard, because dashboard names are unique per account', () => {
    templateOf('dev').hasResourceProperties('AWS::CloudWatch::Dashboard', {
      DashboardName: { 'Fn::Join': ['', ['partner-relay-dev-', { Ref: 'AWS::Region' }]] },
    });
  });

  it('has pages to link accounts with only where the configuration says so, in front of which is the same entrance', () => {
    expect(functions(templateOf('dev'))).not.toContain('account-link');
    const template = templateOf('http-api', everything);
    expect(
      Object.values(template.findResources('AWS::ApiGatewayV2::Route')).map(({ Properties }) => Properties.RouteKey),
    ).toEqual(expect.arrayContaining(['GET /link/start', 'POST /link/start', 'GET /link/callback/{connection}']));
    template.hasOutput('AccountLinkUrl', { Value: { 'Fn::Join': ['', Match.arrayWith(['/link'])] } });
    template.hasResourceProperties('AWS::Lambda::Function', {
      FunctionName: 'partner-relay-http-api-slack-webhook',
      Environment: { Variables: Match.objectLike({ ACCOUNT_LINK_URL: Match.anyValue(), RUNNING: Match.anyValue() }) },
    });
  });

  it('reserves concurrency only where the configuration says so', () => {
    const reserved = (template: Template) =>
      Object.values(template.findResources('AWS::Lambda::Function'))
        .map(({ Properties }) => Properties.ReservedConcurrentExecutions)
        .filter((value) => value !== undefined)
        .sort();
    expect(reserved(templateOf('dev'))).toEqual([]);
    expect(reserved(templateOf('bounded', everything))).toEqual([10, 10, 10]);
  });

  it('the worker gets one message at a time, with the configured concurrency for each lane', () => {
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

  it('FIFO queues are encrypted, refuse plain HTTP, and move a message after a hundred receives', () => {
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
    ['prod', true, 'RetainExceptOnCreate'],
    ['company', true, 'RetainExceptOnCreate'],
    ['dev', false, 'Delete'],
  ] as const)('of %s keeps its data accordingly', (stage, kept, policy) => {
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
    // What the first deployment failed to make must not block the next one by its name.
    for (const type of ['AWS::SecretsManager::Secret', 'AWS::Logs::LogGroup']) {
      built.allResources(type, { DeletionPolicy: policy });
    }
  });

  it('creates a secret for each credential, and writes none but random keys', () => {
    const { connections, slack } = everything;
    const template = templateOf('dev', { ...(connections && { connections }), ...(slack && { slack }) });
    const secrets = Object.values(template.findResources('AWS::SecretsManager::Secret'));
    expect(secrets.map(({ Properties }) => Properties.Name)).toEqual([
      'partner-relay/dev/github-webhook',
      'partner-relay/dev/github',
      'partner-relay/dev/slack',
      'partner-relay/dev/grants',
      'partner-relay/dev/markers',
      'partner-relay/dev/intake',
      'partner-relay/dev/instance/main',
      'partner-relay/dev/instance/other',
      'partner-relay/dev/partner/main',
      'partner-relay/dev/partner/other',
    ]);
    for (const { Properties } of secrets) {
      expect(Properties).not.toHaveProperty('SecretString');
      expect('GenerateSecretString' in Properties).toBe(/\/(grants|markers|intake)$/.test(Properties.Name));
    }
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

  it('the sweep keeps its logical id, because a deployed stack has a function of that name', () => {
    const sweep = { Properties: { FunctionName: 'partner-relay-dev-job-sweep' } };
    const found = templateOf('dev').findResources('AWS::Lambda::Function', sweep);
    expect(Object.keys(found)).toEqual(['JobSweepScheduledFunctionB335160A']);
  });
});

describe('a stage', () => {
  const config = (deployment: RelayConfigInput['deployment'] = {}) =>
    defineConfig({ connections: { main: {} }, deployment });

  it.each(['staging', 'Prod', '', 'constructor'])('an undeclared stage is refused: %j', (name) => {
    expect(() => readStage(name, config())).toThrow(/no stage '.*' under deployment.stages; it has dev, prod/);
  });

  it('the default stage is dev', () => {
    expect(readStage(undefined, config())).toMatchObject({ name: 'dev', isProtected: false });
  });

  it('a stage of any name may be protected', () => {
    const alarms = { emails: ['ops@example.com'] };
    const declared = config({ alarms, stages: { 'prod-eu': { protected: true }, prod: {} } });
    expect(readStage('prod-eu', declared)).toMatchObject({ isProtected: true });
    expect(readStage('prod', declared)).toMatchObject({ isProtected: false });
  });

  it('a protected stage without a recipient for alarms is refused', () => {
    expect(() => readStage('prod', config())).toThrow(/its alarms need a recipient.*alarms: { emails: /s);
    const slackAlarms = { workspaceId: 'T012345', channelId: 'C012345' };
    expect(readStage('prod', config({ stages: { prod: { protected: true, slackAlarms } } }))).toMatchObject({
      isProtected: true,
    });
  });

  it.each([
    ['Prod', {}, /deployment.stages.Prod: /],
    ['dev', { network: {} }, /deployment.stages.dev.network: expected either existing or create/],
    ['dev', { network: { create: { cidr: '10.0.0.0/8' } } }, /cidr: expected a range such as/],
    ['dev', { kmsKeyArn: 'alias/relay' }, /kmsKeyArn: expected an ARN that begins with arn:aws:kms:/],
    ['dev', { rolePath: 'service' }, /rolePath: expected a path such as/],
  ])('an invalid stage setting is refused by its path: %s %j', (name, settings, fault) => {
    expect(() => config({ stages: { [name]: settings } })).toThrow(fault);
  });

  it('may keep logs for every period that CDK knows, and for no other', () => {
    const known = Object.values(RetentionDays).filter(
      (days) => typeof days === 'number' && days !== RetentionDays.INFINITE,
    );
    const keeps = (days: number) => () => config({ logRetentionDays: days });
    for (const days of known) expect(keeps(Number(days))).not.toThrow();
    expect(keeps(2)).toThrow(`expected one of ${known.join(', ')}`);
  });
});
