import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { checkBeforeDeploy, secretNames } from '../../cli/doctor/before-deploy.ts';
import { defineConfig, type RelayConfigInput } from '../../lib/config/schema.ts';
import { everything, synthesize } from '../infra/variants.ts';
import { KNOWN } from './stage-stand-in.ts';

/** What is in the account. */
interface Account {
  stacks: Record<string, string>;
  secrets: string[];
  /** Those of them that the stack owns. */
  owned?: string[];
  /** Those of them that are being deleted. */
  deleted?: string[];
  executions: number;
  identity: { status: number; body: string };
}

const BOOTSTRAP =
  '<StackStatus>CREATE_COMPLETE</StackStatus><Parameters><member><ParameterKey>Qualifier</ParameterKey><ParameterValue>relay</ParameterValue></member></Parameters>';
const failed = (isKept: boolean) =>
  `<StackStatus>ROLLBACK_COMPLETE</StackStatus><EnableTerminationProtection>${isKept}</EnableTerminationProtection>`;

const ready: Account = { stacks: { CDKToolkit: BOOTSTRAP }, secrets: [], executions: 1_000, identity: KNOWN };
let account: Account;
let aws: Server;
beforeAll(async () => {
  aws = createServer(async (request, response) => {
    const body = await text(request);
    const [, name = ''] = /StackName=([\w-]+)/.exec(body) ?? [];
    if (request.url?.endsWith('/account-settings')) {
      const AccountLimit = { ConcurrentExecutions: account.executions };
      return void response.end(JSON.stringify({ AccountLimit }));
    }
    if (body.includes('Action=DescribeStacks')) {
      const stack = account.stacks[name];
      if (stack !== undefined) return void response.end(described(name, stack));
      const error = `<Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id ${name} does not exist</Message></Error>`;
      return void response.writeHead(400).end(`<ErrorResponse>${error}</ErrorResponse>`);
    }
    if (body.includes('Action=ListStackResources')) return void response.end(resources(account.owned ?? []));
    if (request.headers['x-amz-target'] === 'secretsmanager.DescribeSecret') {
      const { SecretId } = JSON.parse(body) as { SecretId: string };
      if (account.secrets.includes(SecretId))
        return void response.end(
          JSON.stringify({
            ARN: arnOf(SecretId),
            ...(account.deleted?.includes(SecretId) && { DeletedDate: 1_795_000_000 }),
          }),
        );
      return void response.writeHead(400).end(JSON.stringify({ __type: 'ResourceNotFoundException' }));
    }
    response.writeHead(account.identity.status).end(account.identity.body);
  });
  await once(aws.listen(0, '127.0.0.1'), 'listening');
  Object.assign(process.env, {
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'AKIAEXAMPLE',
    AWS_SECRET_ACCESS_KEY: 'of the tests',
    AWS_ENDPOINT_URL: `http://127.0.0.1:${(aws.address() as AddressInfo).port}`,
  });
});
beforeEach(() => {
  account = { ...ready };
});
afterAll(() => aws.close());

const arnOf = (secret: string) => `arn:aws:secretsmanager:eu-central-1:123456789012:secret:${secret}-a1B2c3`;

const resources = (secrets: readonly string[]) => {
  const members = secrets.map(
    (secret) =>
      `<member><ResourceType>AWS::SecretsManager::Secret</ResourceType><PhysicalResourceId>${arnOf(secret)}</PhysicalResourceId></member>`,
  );
  return `<ListStackResourcesResponse><ListStackResourcesResult><StackResourceSummaries>${members.join('')}</StackResourceSummaries></ListStackResourcesResult></ListStackResourcesResponse>`;
};

const described = (name: string, stack: string) =>
  `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>${name}</StackName>${stack}</member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;

type StageInput = NonNullable<NonNullable<RelayConfigInput['deployment']>['stages']>[string];

async function wrongWith(is: Partial<Account>, prod: StageInput = {}, stage = 'prod'): Promise<string[]> {
  Object.assign(account, is);
  const deployment = { stages: { prod: { protected: true, ...prod } }, alarms: { emails: ['ops@example.com'] } };
  const findings = await checkBeforeDeploy(defineConfig({ connections: { main: {} }, deployment }), stage);
  return findings.flatMap(({ what, verdict, detail }) => (verdict === 'bad' ? [`${what}: ${detail}`] : []));
}

it('nothing is wrong with a new account that is prepared, and what cannot be seen is said', async () => {
  expect(await wrongWith({})).toEqual([]);
  const findings = await checkBeforeDeploy(defineConfig({ connections: { main: {} } }), 'dev');
  expect(findings.filter(({ verdict }) => verdict === 'unknown').map(({ what }) => what)).toEqual([
    'recipients of alarms',
    'public URLs',
  ]);
});

it.each<[string, Partial<Account>, StageInput, RegExp]>([
  ['no bootstrap', { stacks: {} }, {}, /^bootstrap: .*run npx cdk bootstrap -c stage=prod/],
  ['the bootstrap of another qualifier', {}, { bootstrapQualifier: 'relayprod' }, /--qualifier relayprod/],
  ['the quota of a new account', { executions: 10 }, {}, /^concurrency of the account: 10, but the relay needs/],
  [
    'a first deployment that failed',
    { stacks: { ...ready.stacks, 'partner-relay-prod': failed(true) } },
    {},
    /ROLLBACK_COMPLETE.*--no-enable-termination-protection.*delete-stack/,
  ],
  [
    'a deployment under way',
    { stacks: { ...ready.stacks, 'partner-relay-prod': '<StackStatus>UPDATE_IN_PROGRESS</StackStatus>' } },
    {},
    /being changed \(UPDATE_IN_PROGRESS\)/,
  ],
  [
    'secrets that were left, and with them logs',
    { secrets: ['partner-relay/prod/markers'] },
    {},
    /^secrets: markers exist already: name.*logs.*--import-existing-resources/,
  ],
  [
    'secrets that were left, beside a stack that is only planned',
    {
      secrets: ['partner-relay/prod/markers'],
      stacks: { ...ready.stacks, 'partner-relay-prod': '<StackStatus>REVIEW_IN_PROGRESS</StackStatus>' },
    },
    {},
    /^secrets: markers exist already: name/,
  ],
  [
    'the secret of a connection that was removed once, beside those of the stack',
    {
      secrets: ['partner-relay/prod/markers', 'partner-relay/prod/partner/main'],
      owned: ['partner-relay/prod/markers'],
      stacks: { ...ready.stacks, 'partner-relay-prod': '<StackStatus>UPDATE_COMPLETE</StackStatus>' },
    },
    {},
    /^secrets: partner\/main exist already: name/,
  ],
  [
    'secrets that are being deleted',
    { secrets: ['partner-relay/prod/markers'], deleted: ['partner-relay/prod/markers'] },
    {},
    /^secrets: partner-relay\/prod\/markers is being deleted.*restore-secret/,
  ],
  ['secrets that are not there', {}, { existingSecrets: ['markers'] }, /existingSecrets names markers, which do not/],
  [
    'a key of another region',
    {},
    { kmsKeyArn: 'arn:aws:kms:us-east-1:123456789012:key/0a1b2c3d-0000-0000-0000-000000000000' },
    /^region of kmsKeyArn: .*set AWS_REGION=us-east-1/,
  ],
  [
    'credentials that have expired',
    {
      identity: {
        status: 403,
        body: '<ErrorResponse><Error><Code>ExpiredToken</Code><Message>The security token included in the request is expired</Message></Error></ErrorResponse>',
      },
    },
    {},
    /^credentials: AWS does not say who you are: The security token included in the request is expired/,
  ],
])('%s is said before, with what to do', async (_, is, settings, said) => {
  const wrong = await wrongWith(is, settings);
  expect(wrong).toHaveLength(1);
  expect(wrong[0]).toMatch(said);
});

it('the secrets that it looks for are those that the stack makes', () => {
  const output = synthesize('prod', everything).template().toJSON().Outputs.SecretNames.Value as string;
  const names = output.split(' ').map((name) => name.replace('partner-relay/prod/', ''));
  expect(secretNames(defineConfig({ connections: { main: {} }, ...everything })).sort()).toEqual(names.sort());
});

it('a stage that relay.config.ts does not have is said', async () => {
  expect(await wrongWith({}, {}, 'prd')).toEqual(["stage: relay.config.ts has no stage 'prd'; it has prod"]);
});
