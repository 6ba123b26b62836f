import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { type Statement, statementsOf } from './rights-table.ts';
import { everything, synthesize } from './variants.ts';

/** What a function may do: each action with the resource that it is for. */
function allowed(template: Template, slug: string): string[] {
  const actions = statementsOf(template, slug).flatMap(({ Action, Resource }) =>
    [Action].flat().flatMap((action) => [Resource].flat().map((resource) => `${action} ${JSON.stringify(resource)}`)),
  );
  return [...new Set(actions)].sort();
}

/** The partition keys for which a function may do something with the table. */
function partitionKeys(template: Template, slug: string): Record<string, string[]> {
  const keys: Record<string, string[]> = {};
  for (const { Action, Condition, Resource } of statementsOf(template, slug)) {
    // Neither has partition keys.
    if (JSON.stringify(Resource).includes('/index/') || Action === 'dynamodb:DescribeTable') continue;
    for (const action of [Action].flat().filter((action) => action.startsWith('dynamodb:'))) {
      expect(Condition?.Null).toEqual({ 'dynamodb:LeadingKeys': 'false' });
      const leading = [Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] ?? []].flat();
      keys[action.slice(9)] = [...(keys[action.slice(9)] ?? []), ...leading].sort();
    }
  }
  return keys;
}

describe('the role of a function', () => {
  const template = synthesize('dev', { ...everything, deployment: {} }).template();

  it('the role allows what the function does, and nothing else', () => {
    const interfaces = [
      ...['AssignPrivateIpAddresses', 'CreateNetworkInterface', 'DeleteNetworkInterface'],
      ...['DescribeNetworkInterfaces', 'DescribeSubnets', 'UnassignPrivateIpAddresses'],
    ];
    /** Of every role: its own log, and what Lambda needs to connect a function to a network and to disconnect it. */
    const logs = [
      ...interfaces.map((action) => `ec2:${action} "*"`),
      expect.stringMatching(/^logs:CreateLogStream .*Log/),
      expect.stringMatching(/^logs:PutLogEvents .*Log/),
    ];
    const table = (...actions: string[]) =>
      actions.map((action) =>
        expect.stringMatching(`^dynamodb:${action} {"Fn::GetAtt":\\["StateTable[^"]*","Arn"\\]}$`),
      );
    const queues = (...actions: string[]) =>
      actions.flatMap((action) =>
        ['Background', 'Interactive'].map((lane) => expect.stringMatching(`^sqs:${action} .*"${lane}Queue`)),
      );
    const secrets = (...names: string[]) =>
      names.map((name) =>
        expect.stringMatching(
          name.endsWith('/*')
            ? `^secretsmanager:GetSecretValue .*:secret:partner-relay/dev/${name.slice(0, -1)}\\*"`
            : `^secretsmanager:GetSecretValue {"Fn::GetAtt":\\["Secrets${name}[0-9A-F]{8}","Id"\\]}$`,
        ),
      );
    expect(allowed(template, 'github-webhook')).toEqual([
      ...table('GetItem', 'PutItem', 'UpdateItem'),
      ...logs,
      ...secrets('githubwebhook', 'intake'),
      ...queues('SendMessage'),
    ]);
    expect(allowed(template, 'slack-webhook')).toEqual([
      ...table('DeleteItem', 'GetItem', 'PutItem', 'UpdateItem'),
      ...logs,
      ...secrets('intake', 'slack'),
      ...queues('SendMessage'),
    ]);
    expect(allowed(template, 'account-link')).toEqual([
      ...table('DeleteItem', 'GetItem', 'PutItem', 'UpdateItem'),
      ...logs,
      ...secrets('grants', 'instance/*'),
    ]);
    const index = (name: string) => expect.stringMatching(`^dynamodb:Query .*/index/${name}"`);
    expect(allowed(template, 'job-worker')).toEqual([
      ...table('DeleteItem', 'DescribeTable', 'GetItem', 'PutItem', 'Query'),
      index('waiting-line'),
      ...table('UpdateItem'),
      ...logs,
      ...secrets('github', 'grants', 'intake', 'markers', 'slack', 'calendar/*', 'partner/*'),
      ...queues(
        'ChangeMessageVisibility',
        'DeleteMessage',
        'GetQueueAttributes',
        'GetQueueUrl',
        'ReceiveMessage',
        'SendMessage',
      ),
    ]);
    /** The failure queue of a scheduled function, which its role sends to, and whatever else it sends to. */
    const sends = (construct: string, ...others: string[]) =>
      [...others.map((lane) => `${lane}Queue`), `${construct}[^"]*Failures`].map((queue) =>
        expect.stringMatching(`^sqs:SendMessage .*"${queue}`),
      );
    expect(allowed(template, 'job-sweep')).toEqual([
      ...table('DeleteItem', 'GetItem', 'PutItem'),
      index('jobs-by-status'),
      index('waiting-line'),
      ...table('UpdateItem'),
      ...logs,
      ...secrets('slack'),
      ...['Background', 'Interactive'].map((lane) =>
        expect.stringMatching(`^sqs:GetQueueAttributes .*"${lane}QueueDeadLetters`),
      ),
      ...sends('JobSweep', 'Background', 'Interactive'),
    ]);
    expect(allowed(template, 'credential-check')).toEqual([
      ...table('GetItem', 'PutItem'),
      ...logs,
      ...secrets('github', 'slack', 'partner/*'),
      ...sends('CredentialCheck'),
    ]);
    expect(allowed(template, 'github-redelivery')).toEqual([
      ...table('GetItem', 'Query', 'UpdateItem'),
      ...logs,
      ...secrets('github'),
      ...sends('GithubRedelivery'),
    ]);
    expect(allowed(template, 'timesheet-reminder')).toEqual([
      ...table('GetItem', 'PutItem', 'UpdateItem'),
      ...logs,
      ...sends('TimesheetReminder', 'Background'),
    ]);
  });

  it('the role allows only the partition keys that the function needs', () => {
    expect(partitionKeys(template, 'github-webhook')).toEqual({
      GetItem: ['job#*', 'link#*', 'time', 'turns#*#*'],
      PutItem: ['job#*', 'link#*', 'link-name#*', 'turns#*#*'],
      UpdateItem: ['github-hooks', 'job#*'],
    });
    const remembered = ['slack-standing#*#*', 'slack-workspace', 'turns#*#*'];
    expect(partitionKeys(template, 'slack-webhook')).toEqual({
      GetItem: [
        ...['breaker#*', 'budget#*', 'grant#*#*', 'group#*', 'job#*', 'known-tasks#*', 'person#*#*', 'projects#*'],
        ...['slack-standing#*#*', 'slack-workspace', 'time', 'turns#*#*'],
      ],
      PutItem: ['account-link#*#*', 'away-until#*', 'grant#*#*', 'group#*', 'job#*', 'mute#*', ...remembered],
      UpdateItem: ['account-link#*#*', 'job#*'],
      DeleteItem: ['account-link#*#*', 'away-until#*', 'grant#*#*'],
    });
    // It seals grants, and another function keeps them: neither can do both.
    expect(partitionKeys(template, 'account-link')).toEqual({
      GetItem: ['account-link#*#*', 'budget#*', 'link-share#*#*', 'oauth-client#*', 'time'],
      PutItem: ['budget#*', 'oauth-client#*'],
      UpdateItem: ['account-link#*#*', 'link-share#*#*'],
      DeleteItem: ['oauth-client#*'],
    });
    expect(partitionKeys(template, 'job-sweep')).toEqual({
      GetItem: ['breaker#*', 'budget#*', 'job#*', 'parked-notices', 'time', 'troubles'],
      PutItem: ['breaker#*', 'budget#*', 'parked-notices', 'troubles'],
      UpdateItem: ['job#*'],
      DeleteItem: ['parked-notices'],
    });
    expect(partitionKeys(template, 'github-redelivery')).toEqual({
      GetItem: ['time'],
      Query: ['github-hooks'],
      UpdateItem: ['failed-deliveries#*', 'github-hooks'],
    });
    expect(partitionKeys(template, 'timesheet-reminder')).toEqual({
      GetItem: ['job#*', 'time'],
      PutItem: ['job#*'],
      UpdateItem: ['job#*'],
    });
    const { PutItem } = partitionKeys(template, 'job-worker');
    expect(PutItem).not.toContain('turns#*#*');
    expect(PutItem).not.toContain('github-hooks');
  });

  it('where no accounts are linked, nothing of it is deployed, and no role can read what is kept for it', () => {
    const { connections, ...rest } = everything;
    const without = synthesize('dev', { ...rest, deployment: {} }).template();
    expect(JSON.stringify(without.toJSON())).not.toMatch(
      /account-link|AccountLink|partner-relay\/dev\/(grants|intake|instance)|"(grant|link-share|oauth-client)#/,
    );
    expect(JSON.stringify(template.toJSON())).toMatch(/"grant#/);
  });
});

it.each(['rules', 'company'] as const)('nobody decrypts with the key of the stage %s directly', (stage) => {
  const template = synthesize(stage, everything).template();
  const statements = ['AWS::IAM::Policy', 'AWS::IAM::ManagedPolicy']
    .flatMap((type) => Object.values(template.findResources(type)))
    .flatMap(({ Properties }): Statement[] => Properties.PolicyDocument.Statement)
    .filter(({ Action }) => [Action].flat().some((action) => action.startsWith('kms:')));
  expect(statements.length).toBeGreaterThan(5);
  for (const { Condition } of statements) {
    expect(Condition?.StringEquals?.['kms:ViaService']).toContainEqual({
      'Fn::Join': ['', ['dynamodb.eu-central-1.', { Ref: 'AWS::URLSuffix' }]],
    });
  }
});
