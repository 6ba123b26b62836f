import { globSync, readFileSync } from 'node:fs';
import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import type { Statement } from './rights-table.ts';
import { everything, type StageInput, type StageName, stages, synthesize } from './variants.ts';

const PLACE = 'eu-central-1:111122223333';
const ROLES = 'arn:aws:iam::111122223333:role';
/** The most characters of a managed policy, without whitespace. */
const MOST_OF_POLICY = 6_144;

type Name = 'cloudformation' | 'cloudformation-network' | 'deployer';

const policy = (name: Name): { Statement: Statement[] } =>
  JSON.parse(readFileSync(`docs/policies/${name}.json`, 'utf8'));

const matches = (pattern: string, text: string) =>
  new RegExp(`^${pattern.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`, 'i').test(text);

/**
 * Whether policies allow an action, as IAM reads them. Conditions count as met. `*` stands for a resource without a
 * name.
 */
function allows(names: readonly Name[], action: string, resource: string): boolean {
  const effects = names
    .flatMap((name) => policy(name).Statement)
    .filter(({ Action }) => [Action].flat().some((one) => matches(one, action)))
    .filter(({ Resource }) => [Resource].flat().some((one) => matches(String(one), resource)))
    .map(({ Effect }) => Effect);
  return effects.includes('Allow') && !effects.includes('Deny');
}

/** By resource type, with actions such as `iam:PassRole`. */
const actionsByType = new Map<string, string[]>();
const listed = readFileSync('test/infra/cloudformation-actions.txt', 'utf8').matchAll(/^(AWS\S+) (\S+): (.*)$/gm);
for (const [, type = '', service, actions = ''] of listed) {
  const known = actionsByType.get(type) ?? [];
  actionsByType.set(type, [...known, ...actions.split(' ').map((action) => `${service}:${action}`)]);
}

interface Resource {
  Type: string;
  Properties: Record<string, unknown>;
}

/** The name in the template, or otherwise the name that CloudFormation gives. */
function nameOf(id: string, { Properties }: Resource, stackName: string): string {
  const { FunctionName, LogGroupName, AlarmName, Name } = Properties;
  const given = [FunctionName, LogGroupName, AlarmName, Name].find((name) => typeof name === 'string');
  return typeof given === 'string' ? given : `${stackName}-${id}-1ABCDEFGHIJK`;
}

const WITHOUT_NAME =
  /^(application-autoscaling|chatbot|ec2):|^sns:(\w+SubscriptionAttributes|Unsubscribe)|^logs:(\w*LogDelivery|DescribeLogGroups|\w+ResourcePolic\w+)$|:GetRandomPassword$|:\w+EventSourceMapping$/;

/** The resource of a CloudFormation action, by the action's service. */
function aboutOf(action: string, name: string, { rolePath = '/' }: StageInput): string {
  if (WITHOUT_NAME.test(action)) return '*';
  const [service = ''] = action.split(':');
  if (action === 'iam:CreateServiceLinkedRole') return `${ROLES}/aws-service-role/ops.apigateway.amazonaws.com/Role`;
  if (/^iam:.*(Policy(Version)?|PolicyVersions|ForPolicy)$/.test(action) && !action.includes('RolePolic')) {
    return `arn:aws:iam::111122223333:policy${rolePath}${name}`;
  }
  const of: Record<string, string> = {
    apigateway: 'arn:aws:apigateway:eu-central-1::/apis/a1b2c3',
    cloudwatch: action.includes('Dashboard')
      ? `arn:aws:cloudwatch::111122223333:dashboard/${name}`
      : `arn:aws:cloudwatch:${PLACE}:alarm:${name}`,
    dynamodb: `arn:aws:dynamodb:${PLACE}:table/${name}`,
    iam: `${ROLES}${rolePath}${name}`,
    kms: `arn:aws:kms:${PLACE}:key/1234abcd`,
    lambda: `arn:aws:lambda:${PLACE}:function:${name}`,
    logs: `arn:aws:logs:${PLACE}:log-group:${name}:*`,
    s3: 'arn:aws:s3:::cdk-relayprod-assets-111122223333-eu-central-1/0a1b2c.zip',
    scheduler: `arn:aws:scheduler:${PLACE}:schedule/default/${name}`,
    secretsmanager: `arn:aws:secretsmanager:${PLACE}:secret:${name}-AbCdEf`,
    sns: `arn:aws:sns:${PLACE}:${name}`,
    sqs: `arn:aws:sqs:${PLACE}:${name}.fifo`,
  };
  const about = of[service];
  if (about === undefined) throw new Error(`what is ${action} about?`);
  return about;
}

/** CloudFormation's actions for the template's resources that the policies do not allow. */
function denied(names: readonly Name[], template: Template, stackName: string, settings: StageInput): string[] {
  const resources: [string, Resource][] = Object.entries(template.toJSON().Resources);
  const needed = resources.flatMap(([id, resource]) => {
    const actions = actionsByType.get(resource.Type);
    if (!actions) throw new Error(`test/infra/cloudformation-actions.txt does not have ${resource.Type}`);
    return actions.map((action) => [action, nameOf(id, resource, stackName)] as const);
  });
  const isDenied = ([action, name]: readonly [string, string]) =>
    !allows(names, action, aboutOf(action, name, settings));
  return [...new Set(needed.filter(isDenied).map(([action, name]) => `${action} ${name}`))];
}

describe('the execution policies for cdk bootstrap', () => {
  const [, prefix = ''] = /--policy-name ([\w-]+)\$name /.exec(readFileSync('docs/deploy.md', 'utf8')) ?? [];
  const bootstrapPolicies = ['cloudformation', 'cloudformation-network', 'deployer'].map(
    (name) => `arn:aws:iam::111122223333:policy/${prefix}${name}`,
  );

  it('are created under a name that docs/deploy.md gives', () => expect(prefix).not.toBe(''));

  it.each(Object.keys(stages) as StageName[])('are sufficient for every resource of the stage %s', (stage) => {
    const settings: StageInput = stages[stage];
    const names: Name[] = settings.network ? ['cloudformation', 'cloudformation-network'] : ['cloudformation'];
    const { template, stack } = synthesize(stage, everything);
    const made = template();
    expect(denied(names, made, stack.stackName, settings)).toEqual([]);
    // With this parameter, CloudFormation reads the version of the bootstrap.
    const parameter = made.toJSON().Parameters.BootstrapVersion.Default;
    expect(allows(names, 'ssm:GetParameters', `arn:aws:ssm:${PLACE}:parameter${parameter}`)).toBe(true);
  });

  it.each<[action: string, resource: string]>([
    ['iam:PutRolePolicy', `${ROLES}/Admin`],
    ['iam:PassRole', `${ROLES}/Admin`],
    ['iam:CreateUser', 'arn:aws:iam::111122223333:user/partner-relay-prod'],
    ['lambda:UpdateFunctionCode', `arn:aws:lambda:${PLACE}:function:billing`],
    ['secretsmanager:GetSecretValue', `arn:aws:secretsmanager:${PLACE}:secret:billing/key-AbCdEf`],
    ['dynamodb:DeleteTable', `arn:aws:dynamodb:${PLACE}:table/billing`],
    ['dynamodb:GetItem', `arn:aws:dynamodb:${PLACE}:table/partner-relay-prod-StateTable`],
    ['s3:PutObject', 'arn:aws:s3:::cdk-relayprod-assets-111122223333-eu-central-1/0a1b2c.zip'],
    ['cloudformation:CreateStack', '*'],
    ['iam:DeleteRolePermissionsBoundary', `${ROLES}/partner-relay-prod-Role`],
    // The bootstrap's own policies, as docs/deploy.md names them.
    ...bootstrapPolicies.map((arn): [string, string] => ['iam:CreatePolicyVersion', arn]),
    ['s3:GetObject', 'arn:aws:s3:::cdk-hnb659fds-assets-111122223333-eu-central-1/0a1b2c.zip'],
  ])('do not allow %s for %s', (action, resource) => {
    expect(allows(['cloudformation', 'cloudformation-network'], action, resource)).toBe(false);
  });
});

it('the execution policies forbid the removal of a boundary, whatever else allows it', () => {
  expect(policy('cloudformation').Statement).toContainEqual(
    expect.objectContaining({ Effect: 'Deny', Action: 'iam:DeleteRolePermissionsBoundary', Resource: '*' }),
  );
});

describe('the policy of the person who deploys', () => {
  const may = (action: string, resource: string) => allows(['deployer'], action, resource);

  it.each([
    [{}, 'cdk-relay-'],
    [{ bootstrapQualifier: 'relayprod' }, 'cdk-relayprod-'],
  ])('allows the roles of the bootstrap of a stage with %j, which cdk uses', (settings, name) => {
    const { app, stack } = synthesize('bounded', { deployment: { stages: { bounded: settings } } });
    const { assumeRoleArn, lookupRole, assets } = app.synth().getStackArtifact(stack.artifactId);
    expect(assets).toEqual([]);
    for (const arn of [assumeRoleArn, lookupRole?.arn]) {
      const role = arn?.replaceAll(
        /\$\{AWS::(\w+)\}/g,
        (_, of) => ({ Partition: 'aws', AccountId: '1111' })[of as 'Partition'] ?? of,
      );
      expect(role).toContain(`:role/${name}`);
      expect(may('sts:AssumeRole', role ?? '')).toBe(true);
    }
    expect(may('sts:AssumeRole', `${ROLES}/Admin`)).toBe(false);
    expect(may('sts:AssumeRole', `${ROLES}/cdk-hnb659fds-deploy-role-111122223333-eu-central-1`)).toBe(false);
  });

  it('allows every AWS call that a command can make', () => {
    const about: Record<string, string> = {
      cloudformation: `arn:aws:cloudformation:${PLACE}:stack/partner-relay-prod/0a1b2c`,
      dynamodb: `arn:aws:dynamodb:${PLACE}:table/partner-relay-prod-StateTable-1ABC`,
      lambda: `arn:aws:lambda:${PLACE}:function:partner-relay-prod-job-sweep`,
      'secrets-manager': `arn:aws:secretsmanager:${PLACE}:secret:partner-relay/prod/github-AbCdEf`,
      sqs: `arn:aws:sqs:${PLACE}:partner-relay-prod-InteractiveQueue-1ABC.fifo`,
    };
    const imported = /import (?:type )?\{([^}]*)\} from '@aws-sdk\/client-([\w-]+)'/g;
    const calls = globSync('{cli,console,lib}/**/*.ts')
      .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(imported)])
      .flatMap(([, names = '', service = '']) =>
        [...names.matchAll(/\b(\w+)Command\b/g)].map(([, name]) => `${service}:${name}`),
      );
    const refused = [...new Set(calls)].filter((call) => {
      const [service = '', name = ''] = call.split(':');
      const action = `${service.replace('-', '')}:${name === 'Invoke' ? 'InvokeFunction' : name}`;
      return !may(action, name === 'GetAccountSettings' ? '*' : String(about[service]));
    });
    // Doctor sends these requests without an SDK client.
    for (const name of ['Addresses', 'VpcEndpoints', 'Vpcs']) expect(may(`ec2:Describe${name}`, '*')).toBe(true);
    for (const name of ['Workspaces', 'ChannelConfigurations'])
      expect(may(`chatbot:DescribeSlack${name}`, '*')).toBe(true);
    for (const action of ['logs:DescribeLogGroups', 'servicequotas:GetServiceQuota'])
      expect(may(action, '*')).toBe(true);
    // Only the worker makes messages sleep, and only the sweep counts dead letters.
    expect(refused.sort()).toEqual(['sqs:ChangeMessageVisibility', 'sqs:GetQueueAttributes']);
    expect(calls).toContain('dynamodb:Query');
    expect(may('dynamodb:Query', `${about.dynamodb}/index/jobs-by-status`)).toBe(true);
  });

  it.each([
    ...['partner/main', 'calendar/platform', 'github', 'github-webhook', 'slack', 'markers', 'hooks'].map(
      (name) => [name, true] as const,
    ),
    ...['grants', 'intake'].map((name) => [name, false] as const),
  ])('reads the secret %s: %s', (name, isRead) => {
    const secret = `arn:aws:secretsmanager:${PLACE}:secret:partner-relay/prod/${name}-AbCdEf`;
    expect(may('secretsmanager:GetSecretValue', secret)).toBe(isRead);
    expect(may('secretsmanager:PutSecretValue', secret)).toBe(true);
  });
});

it.each<Name>(['cloudformation', 'cloudformation-network', 'deployer'])('%s fits into a managed policy', (name) => {
  expect(JSON.stringify(policy(name)).length).toBeLessThanOrEqual(MOST_OF_POLICY);
});
