import { describe, expect, it } from 'vitest';
import { statementsOfPolicy } from './rights-table.ts';
import { everything, synthesize } from './variants.ts';

const template = synthesize('dev', { ...everything, deployment: {} }).template();

const policy = (output: string) => statementsOfPolicy(template, output);

/** Each action with what it is for. */
function allowed(output: string): string[] {
  const all = policy(output).flatMap(({ Action, Resource }) =>
    [Action].flat().flatMap((action) => [Resource].flat().map((resource) => `${action} ${JSON.stringify(resource)}`)),
  );
  return [...new Set(all)].sort();
}

/** The partition keys for which an action is allowed. */
function partitionKeys(output: string): Record<string, string[]> {
  const keys: Record<string, string[]> = {};
  for (const { Action, Condition } of policy(output)) {
    const leading = [Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] ?? []].flat();
    if (leading.length === 0) continue;
    expect(Condition?.Null).toEqual({ 'dynamodb:LeadingKeys': 'false' });
    for (const action of [Action].flat()) keys[action] = [...(keys[action] ?? []), ...leading].sort();
  }
  return keys;
}

const table = (action: string) =>
  expect.stringMatching(`^dynamodb:${action} {"Fn::GetAtt":\\["StateTable[^"]*","Arn"\\]}$`);
const findsStack = expect.stringMatching(/^cloudformation:DescribeStacks .*:stack\/partner-relay-dev\/\*"/);
const index = (name: string) => expect.stringMatching(`^dynamodb:Query .*/index/${name}"`);
const reading = {
  'dynamodb:GetItem': ['breaker#*', 'budget#*', 'job#*', 'link#*', 'link-name#*'],
  'dynamodb:Query': ['job#*'],
};

describe('the policies for people who use the console', () => {
  it('reading needs the stack’s outputs, the two indexes and the listed items, and nothing else', () => {
    expect(allowed('ConsoleReadPolicyArn')).toEqual([
      findsStack,
      ...['GetItem', 'Query'].map(table),
      index('jobs-by-status'),
      index('waiting-line'),
    ]);
    expect(partitionKeys('ConsoleReadPolicyArn')).toEqual(reading);
  });

  it('operating also changes what the console shows, runs schedules and asks the service, and nothing else', () => {
    const queues = ['Background', 'Interactive'].map((lane) =>
      expect.stringMatching(`^sqs:SendMessage .*"${lane}Queue`),
    );
    const secret = (action: string) => (name: string) =>
      expect.stringMatching(`^secretsmanager:${action} .*("Secrets${name}|:secret:partner-relay/dev/${name}/\\*")`);
    const secrets = [
      ...['github', 'markers', 'partner'].map(secret('GetSecretValue')),
      ...['github', 'githubwebhook', 'slack', 'calendar', 'instance', 'partner'].map(secret('PutSecretValue')),
    ];
    expect(allowed('ConsoleOperatePolicyArn')).toEqual([
      findsStack,
      ...['DeleteItem', 'GetItem', 'PutItem', 'Query'].map(table),
      index('jobs-by-status'),
      index('waiting-line'),
      table('UpdateItem'),
      ...['CredentialCheck', 'GithubRedelivery', 'JobSweep', 'TimesheetReminder'].map((name) =>
        expect.stringMatching(`^lambda:InvokeFunction {"Fn::GetAtt":\\["${name}[^"]*","Arn"\\]}$`),
      ),
      ...secrets,
      ...queues,
    ]);
    expect(partitionKeys('ConsoleOperatePolicyArn')).toEqual({
      ...reading,
      'dynamodb:Query': ['github-hooks', ...reading['dynamodb:Query']].sort(),
      'dynamodb:PutItem': ['breaker#*', 'budget#*', 'job#*', 'link#*', 'link-name#*'],
      'dynamodb:UpdateItem': ['job#*'],
      'dynamodb:DeleteItem': ['job#*'],
    });
  });

  it('both may use the key of a stage that has one, and have its path', () => {
    const rules = synthesize('rules', everything).template();
    for (const output of ['ConsoleReadPolicyArn', 'ConsoleOperatePolicyArn']) {
      expect(JSON.stringify(statementsOfPolicy(rules, output))).toContain('kms:Decrypt');
    }
    rules.allResourcesProperties('AWS::IAM::ManagedPolicy', { Path: '/service/relay/' });
  });

  it('reading gives access to no secret', () => {
    expect(JSON.stringify(policy('ConsoleReadPolicyArn'))).not.toContain('secretsmanager');
  });
});
