import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { everything, synthesize } from './variants.ts';

interface Statement {
  Effect: string;
  Action: string | string[];
  Resource: unknown;
  Condition?: Record<string, Record<string, string | string[]>>;
}

/** The policies of a function's role. */
function statements(template: Template, slug: string): Statement[] {
  const fn = Object.values(template.findResources('AWS::Lambda::Function')).find(({ Properties }) =>
    Properties.FunctionName.endsWith(slug),
  );
  const role = fn?.Properties.Role['Fn::GetAtt'][0];
  return Object.values(template.findResources('AWS::IAM::Policy'))
    .filter(({ Properties }) => Properties.Roles.some(({ Ref }: { Ref: string }) => Ref === role))
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement as Statement[]);
}

/** What a function may do: each action with the resource that it is for. */
function allowed(template: Template, slug: string): string[] {
  const actions = statements(template, slug).flatMap(({ Action, Resource }) =>
    [Action].flat().flatMap((action) => [Resource].flat().map((resource) => `${action} ${JSON.stringify(resource)}`)),
  );
  return [...new Set(actions)].sort();
}

/** The partition keys for which a function may do something with the table. */
function partitionKeys(template: Template, slug: string): Record<string, string[]> {
  const keys: Record<string, string[]> = {};
  for (const { Action, Condition, Resource } of statements(template, slug)) {
    if (JSON.stringify(Resource).includes('/index/')) continue;
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
    const logs = [
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
      ['DescribeSecret', 'GetSecretValue'].flatMap((action) =>
        names.map((name) =>
          expect.stringMatching(`^secretsmanager:${action} {"Fn::GetAtt":\\["Secrets${name}[0-9A-F]{8}","Id"\\]}$`),
        ),
      );
    const sending = ['GetQueueAttributes', 'GetQueueUrl', 'SendMessage'];
    expect(allowed(template, 'github-webhook')).toEqual([
      ...table('GetItem', 'PutItem', 'UpdateItem'),
      ...logs,
      ...secrets('githubwebhook'),
      ...queues(...sending),
    ]);
    expect(allowed(template, 'slack-webhook')).toEqual([
      ...table('DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'),
      ...logs,
      ...secrets('slack'),
      ...queues(...sending),
    ]);
    expect(allowed(template, 'account-link')).toEqual([
      ...table('DeleteItem', 'GetItem', 'PutItem', 'UpdateItem'),
      ...logs,
      ...secrets('grants', 'partnermain', 'partnerother'),
    ]);
    const index = (name: string) => expect.stringMatching(`^dynamodb:Query .*/index/${name}"`);
    expect(allowed(template, 'job-worker')).toEqual([
      ...table('DeleteItem', 'GetItem', 'PutItem', 'Query'),
      index('waiting-line'),
      ...table('UpdateItem'),
      ...logs,
      ...secrets('github', 'grants', 'partnermain', 'partnerother', 'slack'),
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
      sending.flatMap((action) =>
        [...others.map((lane) => `${lane}Queue`), `${construct}[^"]*Failures`].map((queue) =>
          expect.stringMatching(`^sqs:${action} .*"${queue}`),
        ),
      );
    expect(allowed(template, 'job-sweep')).toEqual([
      ...table('DeleteItem', 'GetItem', 'PutItem', 'Query'),
      index('jobs-by-status'),
      index('waiting-line'),
      ...table('UpdateItem'),
      ...logs,
      ...secrets('slack'),
      ...sends('JobSweep', 'Background', 'Interactive'),
    ]);
    expect(allowed(template, 'credential-check')).toEqual([
      ...table('DeleteItem', 'GetItem', 'PutItem', 'Query'),
      ...logs,
      ...secrets('github', 'partnermain', 'partnerother', 'slack'),
      ...sends('CredentialCheck'),
    ]);
    expect(allowed(template, 'github-redelivery')).toEqual([
      ...table('Query', 'UpdateItem'),
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
      GetItem: ['job#*', 'link#*', 'turns#*#*'],
      PutItem: ['job#*', 'link#*', 'link-name#*', 'turns#*#*'],
      UpdateItem: ['github-hooks', 'job#*'],
    });
    const remembered = ['slack-standing#*#*', 'slack-workspace', 'turns#*#*'];
    expect(partitionKeys(template, 'slack-webhook')).toEqual({
      GetItem: ['budget#*', 'grant#*#*', 'group#*', 'job#*', 'person#*#*', 'projects#*', 'said#*', ...remembered],
      PutItem: [
        'account-link#*#*',
        'grant#*#*',
        'group#*',
        'job#*',
        'jobs-of#*#*',
        'linked-people#*',
        'mute#*',
        'said#*',
        ...remembered,
      ],
      UpdateItem: ['account-link#*#*', 'job#*'],
      DeleteItem: ['account-link#*#*', 'grant#*#*', 'link-waits#*#*#*', 'linked-people#*'],
      Query: ['jobs-of#*#*', 'link-waits#*#*#*'],
    });
    // It seals grants, and another function keeps them: neither can do both.
    expect(partitionKeys(template, 'account-link')).toEqual({
      GetItem: ['account-link#*#*', 'budget#*', 'oauth-client#*'],
      PutItem: ['budget#*', 'oauth-client#*'],
      UpdateItem: ['account-link#*#*'],
      DeleteItem: ['oauth-client#*'],
    });
    expect(partitionKeys(template, 'job-sweep')).toEqual({
      GetItem: ['breaker#*', 'budget#*', 'job#*', 'parked-notices'],
      PutItem: ['budget#*', 'parked-notices'],
      UpdateItem: ['job#*'],
      DeleteItem: ['parked-notices'],
      Query: ['breaker#*'],
    });
    expect(partitionKeys(template, 'github-redelivery')).toEqual({
      Query: ['github-hooks'],
      UpdateItem: ['failed-deliveries#*', 'github-hooks'],
    });
    expect(partitionKeys(template, 'timesheet-reminder')).toEqual({
      GetItem: ['job#*'],
      PutItem: ['job#*'],
      UpdateItem: ['job#*'],
    });
    const { PutItem } = partitionKeys(template, 'job-worker');
    expect(PutItem).not.toContain('jobs-of#*#*');
    expect(PutItem).not.toContain('github-hooks');
  });
});
