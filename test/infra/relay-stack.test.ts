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
import { differences, resourcesOf } from './lists.ts';
import { statementsOf } from './rights-table.ts';
import { customOfEach, everything, propertiesOf, type StageName, stages, synthesize } from './variants.ts';

const templates = new Map<string, Template>();

/** Tests share the template, because it takes long to make. Do not change it. */
function templateOf(stageName: StageName, config: Partial<RelayConfigInput> = {}): Template {
  const key = JSON.stringify([stageName, config]);
  const template = templates.get(key) ?? synthesize(stageName, config).template();
  templates.set(key, template);
  return template;
}

/** The most workers of each lane. */
const workersIn = (template: Template) =>
  propertiesOf(template, 'Lambda::EventSourceMapping').map(({ ScalingConfig }) => ScalingConfig.MaximumConcurrency);

describe('cdk-nag', () => {
  const findings = (app: App) =>
    new AwsSolutionsChecks(app).validateScope(app).violations.map(({ ruleName }) => ruleName);

  it.each(Object.keys(stages) as StageName[])('every cdk-nag finding is acknowledged with a reason: %s', (stage) => {
    expect(findings(synthesize(stage, everything, customOfEach(1)).app)).toEqual([]);
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
    const largest = (type: string) =>
      Math.max(...propertiesOf(template, type).map(({ PolicyDocument }) => sizeOf(PolicyDocument)));
    expect(largest('IAM::ManagedPolicy')).toBeLessThanOrEqual(MOST_OF_MANAGED_POLICY);
    expect(largest('IAM::Policy')).toBeLessThanOrEqual(MOST_OF_ROLE);
  });
});

it('twenty automations of a team need no more resources than one of each kind', () => {
  const resources = (count: number) =>
    Object.keys(synthesize('company', everything, customOfEach(count)).template().toJSON().Resources);
  expect(resources(5)).toEqual(resources(1));
});

describe('the stack', () => {
  it('has the contents of stack.txt, and each setting has the effect that it describes', async () => {
    const list = (stage: StageName, ...also: [Partial<RelayConfigInput>?, ReturnType<typeof customOfEach>?]) =>
      resourcesOf(synthesize(stage, ...also).template(), stage);
    const [plain, all] = [list('dev'), list('dev', everything, customOfEach(1))];
    const sections: [string, string[]][] = [
      ['dev', plain],
      ['dev with everything that a configuration can add', differences(all, plain)],
      ['http-api, in place of that', differences(list('http-api', everything, customOfEach(1)), all)],
      ...(['prod', 'existing-table', 'existing-vpc', 'endpoints-vpc', 'new-vpc', 'domain', 'bounded'] as const).map(
        (stage): [string, string[]] => [`${stage}, in place of dev`, differences(list(stage), plain)],
      ),
    ];
    const text = sections.map(([name, lines]) => `${name}:\n\n${lines.join('\n')}\n`).join('\n');
    await expect(text).toMatchFileSnapshot('stack.txt');
  });

  it('logs are kept for the configured time, and the lanes have workers as configured', () => {
    const deployment = { logRetentionDays: 90, maxConcurrency: { interactive: 3, background: 7 } };
    const template = synthesize('prod', { deployment }).template();
    template.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 90 });
    expect(workersIn(template)).toEqual([3, 7]);
  });

  it("the functions' rights are for an existing table, if one replaces the stack's own", () => {
    const policies = JSON.stringify(templateOf('existing-table', everything).findResources('AWS::IAM::Policy'));
    for (const place of ['"', '/index/']) expect(policies).toContain(`:table/partner-relay-restored${place}`);
    expect(policies).not.toContain('"StateTable');
  });

  it('every function may use the former key to decrypt waiting messages, and for nothing else', () => {
    const { kmsKeyArn = '' } = stages.rules;
    const formerKmsKeyArn = kmsKeyArn.replace('key/1234', 'key/9999');
    const template = templateOf('rules', { deployment: { stages: { rules: { ...stages.rules, formerKmsKeyArn } } } });
    for (const slug of ['github-webhook', 'job-worker', ...schedules.map((one) => one.slug)]) {
      const ofKey = statementsOf(template, slug).filter(({ Resource }) => Resource === formerKmsKeyArn);
      expect(ofKey).toMatchObject([{ Action: 'kms:Decrypt', Condition: expect.anything() }]);
    }
  });

  it('a replica of the key of markers is kept in another region', () => {
    const stages = { prod: { protected: true, replicaRegion: 'eu-west-1' } };
    const template = templateOf('prod', { ...everything, deployment: { ...everything.deployment, stages } });
    const replicated = propertiesOf(template, 'SecretsManager::Secret').filter((one) => one.ReplicaRegions);
    const ReplicaRegions = [{ Region: 'eu-west-1' }];
    expect(replicated).toMatchObject([{ Name: 'partner-relay/prod/markers', ReplicaRegions }]);
  });

  it.each([
    [10, 2, 2],
    [16, 4, 4],
    [1_000, 5, 5],
  ])('in an account with %i executions, the lanes have %i and %i workers', (accountConcurrency, ...workers) => {
    const template = templateOf('dev', { deployment: { stages: { dev: { accountConcurrency } } } });
    expect(workersIn(template)).toEqual(workers);
  });

  it('existing secrets are used, and not changed', () => {
    const existing = ['markers', 'partner/main'];
    const stages = { prod: { protected: true, existingSecrets: existing } };
    const made = templateOf('prod', { ...everything, deployment: { ...everything.deployment, stages } });
    const namesOf = (template: Template) => propertiesOf(template, 'SecretsManager::Secret').map(({ Name }) => Name);
    const names = namesOf(made);
    expect(namesOf(templateOf('prod', everything)).filter((name) => !names.includes(name))).toEqual(
      existing.map((name) => `partner-relay/prod/${name}`),
    );
    const worker = JSON.stringify(statementsOf(made, 'job-worker'));
    for (const place of ['markers-??????', 'partner/*'])
      expect(worker).toContain(`:secret:partner-relay/prod/${place}"`);
  });

  it('a secret that the stage does not have cannot be listed as existing', () => {
    const stages = { prod: { existingSecrets: ['partner/gone'] } };
    const made = () => templateOf('prod', { deployment: { stages } });
    expect(made).toThrow(/existingSecrets names partner\/gone; the secrets/);
  });

  it('services other than Lambda may assume a role only for this account', () => {
    const others = propertiesOf(templateOf('prod', everything), 'IAM::Role')
      .flatMap(({ AssumeRolePolicyDocument }) => AssumeRolePolicyDocument.Statement)
      .filter(({ Principal }) => Principal.Service !== 'lambda.amazonaws.com');
    const services = new Set(others.map(({ Principal }) => Principal.Service));
    expect(services).toEqual(new Set(['chatbot.amazonaws.com', 'scheduler.amazonaws.com']));
    for (const { Condition } of others)
      expect(Condition).toEqual({ StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } });
  });

  it('an upgrade updates the functions that read new items before the webhooks, which write the first', () => {
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

  it('behind an API, no function is public', () => {
    const { template } = synthesize('company', everything, customOfEach(1));
    expect(template().findResources('AWS::Lambda::Url')).toEqual({});
    const permissions = propertiesOf(template(), 'Lambda::Permission');
    expect(permissions.length).toBeGreaterThan(0);
    for (const permission of permissions)
      expect(permission).toMatchObject({ Principal: 'apigateway.amazonaws.com', SourceArn: expect.anything() });
  });

  it('links lead to the console of the partition', () => {
    for (const link of ['DashboardLink', 'LogsLink', 'TableLink', 'SecretsLink'])
      expect(JSON.stringify(templateOf('prod').toJSON().Outputs[link])).toContain('{"Fn::FindInMap":["ConsoleHosts",');
  });

  it.each([
    ['prod', true],
    ['company', true],
    ['dev', false],
  ] as const)('%s is protected from being deleted: %s', (stage, kept) => {
    expect(synthesize(stage).stack.terminationProtection ?? false).toBe(kept);
  });

  it('no secret is written, except random keys', () => {
    for (const secret of propertiesOf(templateOf('prod', everything), 'SecretsManager::Secret')) {
      expect(secret).not.toHaveProperty('SecretString');
      expect('GenerateSecretString' in secret).toBe(/\/(grants|markers|intake)$/.test(secret.Name));
    }
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
    const declared = config({ stages: { prod: { protected: true, slackAlarms } } });
    expect(readStage('prod', declared)).toMatchObject({ isProtected: true });
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

  it('may keep logs for every period that the CDK knows, and for no other', () => {
    const { INFINITE } = RetentionDays;
    const known = Object.values(RetentionDays).filter((days) => typeof days === 'number' && days !== INFINITE);
    const keeps = (days: number) => () => config({ logRetentionDays: days });
    for (const days of known) expect(keeps(Number(days))).not.toThrow();
    expect(keeps(2)).toThrow(`expected one of ${known.join(', ')}`);
  });
});
