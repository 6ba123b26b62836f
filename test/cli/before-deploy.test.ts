import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { checkBeforeDeploy, logNames } from '../../cli/doctor/before-deploy.ts';
import { defineConfig } from '../../lib/config/schema.ts';
import none from '../../lib/triggers/custom-automation.ts';
import { type HttpStandIn, startHttpStandIn } from '../http-stand-in.ts';
import { customOfEach, everything, type StageInput, synthesize } from '../infra/variants.ts';
import { type Account, answerOf, BOOTSTRAP, ran, ready } from './account-stand-in.ts';
import { EXPIRED } from './stage-stand-in.ts';

/** The account with a stack in this state. */
const stacks = (status: string, isKept = true) => ({
  ...ready.stacks,
  'partner-relay-prod': `<StackStatus>${status}</StackStatus><EnableTerminationProtection>${isKept}</EnableTerminationProtection>`,
});
const markers = 'partner-relay/prod/markers';
const LOG = '/aws/lambda/partner-relay-prod-job-worker';
const domain = {
  name: 'relay.example.com',
  certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/0a1b2c3d',
};
let account: Account;
let aws: HttpStandIn;
beforeAll(async () => {
  aws = await startHttpStandIn((asked) => answerOf(account, asked));
  Object.assign(process.env, {
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'AKIAEXAMPLE',
    AWS_SECRET_ACCESS_KEY: 'of the tests',
    AWS_ENDPOINT_URL: aws.url,
  });
});
beforeEach(() => {
  account = { ...ready };
});
afterEach(() => vi.unstubAllEnvs());

const TABLE = 'partner-relay-restored';
const restored: StageInput = { table: { existing: TABLE } };
const existing = { vpcId: 'vpc-0a1b2c3d', subnetIds: ['subnet-0a1b2c3d'], securityGroupIds: ['sg-0a1b2c3d'] };
const ofOthers: StageInput = { network: { existing } };
const withGateway: StageInput = {
  network: { existing: { ...existing, endpoints: { routeTableIds: ['rtb-0a1b2c3d'] } } },
};
const ofItsOwn: StageInput = { network: { create: { cidr: '10.20.0.0/24' } } };
/** The account with this many networks; the quotas are five. */
const networks = (more: Partial<Account['networks']> = {}) => ({
  networks: { vpcs: 4, addresses: 4, gateways: 4, ...more },
});
const toSlack: StageInput = { slackAlarms: { workspaceId: 'T012345', channelId: 'C012345' } };
/** The account with a configuration of this name for the channel. */
const chat = (name: string) => ({
  slack: { workspaces: ['T012345'], channels: { C012345: `partner-relay-${name}-eu-central-1-alarms` } },
});
const kmsKeyArn = 'arn:aws:kms:us-east-1:123456789012:key/0a1b2c3d-0000-0000-0000-000000000000';

const plain = { custom: none, version: '0.1.0' };

function examine(is: Partial<Account>, prod: StageInput = {}, stage = 'prod', isImporting = false) {
  Object.assign(account, is);
  if (is.region !== undefined) vi.stubEnv('AWS_REGION', is.region);
  const deployment = { stages: { prod: { protected: true, ...prod } }, alarms: { emails: ['ops@example.com'] } };
  return checkBeforeDeploy(defineConfig({ connections: { main: {} }, deployment }), stage, { ...plain, isImporting });
}

async function wrongWith(...account: Parameters<typeof examine>): Promise<string[]> {
  const findings = await examine(...account);
  return findings.flatMap(({ what, verdict, detail }) => (verdict === 'bad' ? [`${what}: ${detail}`] : []));
}

it('a prepared new account is correct, and the check says what it cannot see', async () => {
  expect(await wrongWith({})).toEqual([]);
  const findings = await checkBeforeDeploy(defineConfig({ connections: { main: {} } }), 'dev', plain);
  expect(findings.filter(({ verdict }) => verdict === 'unknown').map(({ what }) => what)).toEqual([
    'recipients of alarms',
    'public URLs',
  ]);
});

it.each<[RegExp, Partial<Account>, StageInput?]>([
  [/^bootstrap: .*run npx partner-relay cdk bootstrap --stage prod --qualifier relay /, { stacks: {} }],
  [
    /^bootstrap: no bootstrap has the qualifier relay/,
    { stacks: { CDKToolkit: BOOTSTRAP.replace('CREATE', 'ROLLBACK') } },
  ],
  [/^bootstrap: .*--qualifier relayprod/, {}, { bootstrapQualifier: 'relayprod' }],
  [/^concurrency of the account: 10, but the relay needs/, { executions: 10 }],
  [
    /^concurrency of the account: 599 of 1000, because 401 are reserved for others, but the relay needs up to 600/,
    { executions: 1_000, reserved: { billing: 401, 'partner-relay-prod-github-webhook': 10 } },
    { accountConcurrency: 600 },
  ],
  [/^table: there is no partner-relay-restored in this account and region/, {}, restored],
  [/^table: partner-relay-restored is in the state CREATING: wait/, { tables: { [TABLE]: 'CREATING' } }, restored],
  [
    /^quota of VPCs: all 5.*--service-code vpc --quota-code L-F678F1CE --desired-value 6/,
    networks({ vpcs: 5 }),
    ofItsOwn,
  ],
  [
    /^quota of Elastic IPs: all 5 are used.*--service-code ec2 --quota-code L-0263D0A3/,
    networks({ addresses: 5 }),
    ofItsOwn,
  ],
  [
    /^quota of gateway endpoints: all 5 are used.*L-1B52E74A/,
    networks({ vpcs: 5, addresses: 5, gateways: 5 }),
    withGateway,
  ],
  [/^public URLs: Lambda has no function URLs in eu-central-2: set httpApi/, { region: 'eu-central-2' }],
  [/^public URLs: Lambda has no function URLs in us-gov-west-1: set httpApi/, { region: 'us-gov-west-1' }],
  [/ROLLBACK_COMPLETE.*--no-enable-termination-protection.*delete-stack/, { stacks: stacks('ROLLBACK_COMPLETE') }],
  [
    /^version: 0.0.9 ran here, and 0.1.0 can only read data of 0.1.0 and newer.*npm install partner-relay@0.1.0$/,
    { stacks: ran('0.0.9') },
  ],
  [/^version: 0.2.0 ran here, and 0.1.0 cannot read its data: upgrade to 0.2.0 again/, { stacks: ran('0.2.0', 99) }],
  [/being changed \(UPDATE_IN_PROGRESS\)/, { stacks: stacks('UPDATE_IN_PROGRESS') }],
  [/^secrets: markers exist already: name them in existingSecrets/, { secrets: [markers] }],
  // The stack is only planned.
  [/^secrets: markers exist already: name/, { secrets: [markers], stacks: stacks('REVIEW_IN_PROGRESS') }],
  // The connection was removed earlier.
  [
    /^secrets: partner\/main exist already: name/,
    { secrets: [markers, 'partner-relay/prod/partner/main'], owned: [markers], stacks: stacks('UPDATE_COMPLETE') },
  ],
  [
    /^secrets: partner-relay\/prod\/markers is being deleted.*restore-secret/,
    { secrets: [markers], deleted: [markers] },
  ],
  [/existingSecrets names markers, which do not/, {}, { existingSecrets: ['markers'] }],
  // A protected stage leaves its logs.
  [
    /^logs: \/aws\/lambda\/partner-relay-prod-job-worker exist already: deploy with --import-existing-resources/,
    { logs: [LOG, '/aws/lambda/partner-relay-prod-eu-job-sweep'] },
  ],
  [/^logs: .*job-worker exist already: delete each/, { logs: [LOG] }, { protected: false }],
  [
    /^slackAlarms: the workspace T012345 is not authorized: authorize it in the console/,
    { slack: { workspaces: ['T999'], channels: {} } },
    toSlack,
  ],
  [/^slackAlarms: .*\/partner-relay-dev-eu-central-1-alarms has the channel C012345 already/, chat('dev'), toSlack],
  [/^region of kmsKeyArn: .*set AWS_REGION=us-east-1/, {}, { kmsKeyArn }],
  [/^region of certificateArn: it is in us-east-1/, { logs: [] }, { httpApi: { domain } }],
  [
    /^credentials: AWS refuses your credentials \(.*The security token is expired\): sign in again/,
    { identity: { status: 403, body: EXPIRED } },
  ],
])('obstacles are reported before a deployment, with what to do: %s', async (said, is, settings) => {
  expect(await wrongWith(is, settings)).toEqual([expect.stringMatching(said)]);
});

it.each<[string, Partial<Account>, StageInput?]>([
  [
    'a first deployment that failed without protection: the CDK deletes it',
    { stacks: stacks('ROLLBACK_COMPLETE', false) },
  ],
  [
    'secrets and logs of its own',
    { secrets: [markers], logs: [LOG], owned: [markers, LOG], stacks: stacks('UPDATE_COMPLETE') },
  ],
  ['a channel of its own', chat('prod'), toSlack],
  ['a region without function URLs where an API is in front', { region: 'eu-central-2' }, { httpApi: {} }],
  ['a table that is there', { tables: { [TABLE]: 'ACTIVE' } }, restored],
  ['a region with room for one more network', networks(), ofItsOwn],
  [
    'the network that the stack has already',
    { ...networks({ vpcs: 5 }), owned: ['vpc-1', 'vpce-1'], stacks: stacks('UPDATE_COMPLETE') },
    ofItsOwn,
  ],
  ['a network of others', networks({ vpcs: 5, gateways: 5 }), ofOthers],
  [
    'what is reserved for the stage itself',
    { reserved: { 'partner-relay-prod-github-webhook': 10 } },
    { accountConcurrency: 1_000 },
  ],
  ['a newer version that writes what this one reads', { stacks: ran('1.0.0') }],
  ['a workspace of Slack that the person may not look at', {}, toSlack],
])('%s is no obstacle', async (_, is, settings) => {
  expect(await wrongWith(is, settings)).toEqual([]);
});

it('the check says what the next deployment does to an existing stack and existing logs', async () => {
  const said = async (...what: Parameters<typeof examine>) =>
    Object.fromEntries((await examine(...what)).map(({ what, detail }) => [what, detail]));
  const first = await said({ logs: [LOG] }, {}, 'prod', true);
  expect(first['stack partner-relay-prod']).toBe('it does not exist, and will be created');
  expect(first.logs).toBe(`${LOG} will be imported`);
  const next = await said({ stacks: stacks('UPDATE_COMPLETE') });
  expect(next['stack partner-relay-prod']).toBe('it will be updated (UPDATE_COMPLETE)');
  // Without protection, CloudFormation does not import them.
  expect(await wrongWith({ stacks: ready.stacks, logs: [LOG] }, { protected: false }, 'prod', true)).toHaveLength(1);
});

it.each([
  ['AWS_REGION', /no AWS region is set: set AWS_REGION/],
  ['AWS_ACCESS_KEY_ID', /there are no AWS credentials .*: sign in/],
])('a person without %s reads what to do', async (variable, said) => {
  const nowhere = { AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null' };
  for (const [name, value] of Object.entries({ ...nowhere, AWS_EC2_METADATA_DISABLED: 'true', [variable]: undefined }))
    vi.stubEnv(name, value);
  expect(await wrongWith({})).toEqual([expect.stringMatching(said)]);
});

const own = customOfEach(1);

it('the check looks for exactly the logs that the stack creates', () => {
  const made = synthesize('http-api', everything, own).template().findResources('AWS::Logs::LogGroup');
  const names = Object.values(made).map(({ Properties }) => Properties.LogGroupName);
  const config = defineConfig({
    connections: { main: {} },
    ...everything,
    deployment: { stages: { 'http-api': { httpApi: {} } } },
  });
  expect(logNames(config, 'http-api', own.own.custom).sort()).toEqual(names.sort());
});

it('a stage that is missing in relay.config.ts is reported', async () => {
  expect(await wrongWith({}, {}, 'prd')).toEqual(["stage: relay.config.ts has no stage 'prd'; it has prod"]);
});
