import {
  CloudFormationClient,
  DescribeStacksCommand,
  paginateListStackResources,
  type Stack,
} from '@aws-sdk/client-cloudformation';
import { DescribeTableCommand, DynamoDBClient, ResourceNotFoundException as NoTable } from '@aws-sdk/client-dynamodb';
import {
  DescribeSecretCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import * as z from 'zod';
import { CannotTell, check, type Finding } from '../../lib/checks/check.ts';
import { openFunctions } from '../../lib/config/capacity.ts';
import type { StageSettings } from '../../lib/config/deployment.ts';
import type { RelayConfig } from '../../lib/config/schema.ts';
import { stageSecrets } from '../../lib/config/stage-secrets.ts';
import { schedules } from '../../lib/schedules.ts';
import { versionFault } from '../../lib/state/table/versions.ts';
import type { CustomAutomations } from '../../lib/triggers/custom-automation.ts';
import { awsClient } from '../aws.ts';
import { callerArn } from '../caller.ts';
import { outputsOf, wroteOf } from '../outputs.ts';
import { askInJson } from './ask-in-json.ts';
import { inOrder } from './finding.ts';
import { networkChecks } from './network.ts';
import { slackReady } from './slack-alarms.ts';
import { concurrencyCheck } from './stage.ts';

/** What will be deployed, besides the configuration. */
export interface ToDeploy {
  custom: CustomAutomations;
  /** The version of the relay. */
  version: string;
  /** Whether the deployment uses `--import-existing-resources`. */
  isImporting?: boolean | undefined;
}

/**
 * Checks the account for everything that would stop a deployment of the stage. If the person's permissions do not
 * suffice for a check, its finding says so.
 */
export async function checkBeforeDeploy(
  config: RelayConfig,
  stage: string,
  { custom, version, isImporting = false }: ToDeploy,
): Promise<Finding[]> {
  const settings = config.deployment.stages[stage];
  if (!settings) {
    const known = Object.keys(config.deployment.stages).join(', ');
    return [{ what: 'stage', verdict: 'bad', detail: `relay.config.ts has no stage '${stage}'; it has ${known}` }];
  }
  const client = new CloudFormationClient(awsClient());
  const identity = await inOrder([
    check('credentials', async () => {
      const region = await client.config.region();
      return `${await callerArn()} in ${region}: deploy with the same credentials, and check that the region is right`;
    }),
  ]);
  // Without credentials, all other checks would fail for the same reason.
  if (identity.some(({ verdict }) => verdict !== 'good')) return identity;
  const { protected: isProtected, slackAlarms, table, network, httpApi } = settings;
  const region = await client.config.region();
  const stackName = `partner-relay-${stage}`;
  const stack = find(client, stackName);
  const owned = stack.then((is) => (is ? ownedBy(client, stackName) : []));
  // If this fails, each check that needs the ids says why.
  owned.catch(() => {});
  const findings = await inOrder([
    arnsOf(settings).map(([name, arn]) => check(`region of ${name}`, () => sameRegion(arn, region))),
    check('recipients of alarms', () => {
      const { emails } = config.deployment.alarms;
      if (emails.length > 0 || slackAlarms) return emails.join(', ') || 'a channel in Slack';
      if (isProtected)
        throw new Error('a protected stage needs an address in deployment.alarms.emails, or slackAlarms');
      throw new CannotTell('nobody receives alarms: add an address to deployment.alarms.emails');
    }),
    check('bootstrap', () => bootstrapped(client, settings.bootstrapQualifier, stage)),
    check(`stack ${stackName}`, async () => deployable(await stack, stackName)),
    check('version', async () => readable(await stack, version)),
    check('secrets', async () =>
      secretsNotInTheWay(Object.keys(stageSecrets(config, custom)), stage, settings.existingSecrets, await owned),
    ),
    check('logs', async () =>
      logsNotInTheWay(logNames(config, stage, custom), stackName, { isProtected, isImporting, owned: await owned }),
    ),
    table && check('table', () => tableReady(table.existing)),
    network && networkChecks(network, owned),
    concurrencyCheck(config, stage, custom),
    !httpApi && check('public URLs', () => urlsOffered(region)),
    slackAlarms && check('slackAlarms', () => slackReady(slackAlarms, `${stackName}-${region}-alarms`)),
  ]);
  return [...identity, ...findings];
}

/** The ARNs in a stage's settings, which must be in its region. */
function arnsOf({ kmsKeyArn, formerKmsKeyArn, httpApi }: StageSettings): [string, string][] {
  const named = { kmsKeyArn, formerKmsKeyArn, certificateArn: httpApi?.domain?.certificateArn };
  return Object.entries(named).flatMap(([name, arn]) => (arn === undefined ? [] : [[name, arn]]));
}

function sameRegion(arn: string, region: string): string {
  const [, , , its] = arn.split(':');
  if (its === region) return region;
  throw new Error(`it is in ${its}, and your credentials are for ${region}: set AWS_REGION=${its}, or name another`);
}

/** https://docs.aws.amazon.com/lambda/latest/dg/urls-configuration.html and, for GovCloud, govcloud-lambda.html */
const WITHOUT_URLS =
  /^(ap-east-2|ap-south-2|ap-southeast-[4567]|ca-west-1|eu-central-2|eu-south-2|il-central-1|me-central-1|us-gov-.*)$/;

function urlsOffered(region: string): never {
  if (WITHOUT_URLS.test(region))
    throw new Error(
      `Lambda has no function URLs in ${region}: set httpApi: {} of the stage, or deploy to another region`,
    );
  throw new CannotTell(
    'a rule of your organization may refuse functions that are public. If it does, set httpApi of the stage: docs/deploy.md#rules-against-public-functions',
  );
}

async function tableReady(TableName: string): Promise<string> {
  const client = new DynamoDBClient(awsClient());
  const isMissing = (error: Error) => error instanceof NoTable;
  const found = await ifThere(client.send(new DescribeTableCommand({ TableName })), isMissing);
  if (!found)
    throw new Error(
      `there is no ${TableName} in this account and region: correct table.existing of the stage, or leave it out for a new, empty table`,
    );
  const { TableStatus: status = 'unknown' } = found.Table ?? {};
  if (status === 'ACTIVE' || status === 'UPDATING') return `${TableName} exists, and is used as it is`;
  throw new Error(`${TableName} is in the state ${status}: wait until it is ACTIVE`);
}

/**
 * Returns what AWS answers about a resource; undefined if it does not exist. @throws {CannotTell} without the
 * permission
 */
async function ifThere<T>(answer: Promise<T>, isMissing: (error: Error) => boolean, it = 'it'): Promise<T | undefined> {
  return answer.catch((error: unknown) => {
    if (!(error instanceof Error)) throw error;
    if (isMissing(error)) return undefined;
    throw /AccessDenied/.test(error.name)
      ? new CannotTell(`you have no permission to read ${it}: ${error.message}`)
      : error;
  });
}

async function find(client: CloudFormationClient, StackName: string): Promise<Stack | undefined> {
  const isMissing = ({ message }: Error) => /does not exist/.test(message);
  const { Stacks = [] } = (await ifThere(client.send(new DescribeStacksCommand({ StackName })), isMissing)) ?? {};
  // In this state the stack is only a plan, and the CDK's command line still creates it.
  return Stacks[0]?.StackStatus === 'REVIEW_IN_PROGRESS' ? undefined : Stacks[0];
}

/** The ids of the stack's resources: the ARNs of secrets, the names of log groups. */
async function ownedBy(client: CloudFormationClient, StackName: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const { StackResourceSummaries = [] } of paginateListStackResources({ client }, { StackName }))
    ids.push(...StackResourceSummaries.flatMap(({ PhysicalResourceId = [] }) => PhysicalResourceId));
  return ids;
}

/**
 * Checks the bootstrap by the parameter of its qualifier, because its stack may have any name. A failed bootstrap has
 * the parameter, but no roles.
 */
async function bootstrapped(client: CloudFormationClient, qualifier: string, stage: string): Promise<string> {
  const names = ['CDKToolkit', `CDKToolkit-${qualifier}`];
  const found = (await Promise.all(names.map((name) => find(client, name)))).filter((stack) => stack !== undefined);
  const own = found.find(
    ({ StackStatus = '', Parameters = [] }) =>
      !/^(ROLLBACK|DELETE)_/.test(StackStatus) &&
      Parameters.some(
        ({ ParameterKey, ParameterValue }) => ParameterKey === 'Qualifier' && ParameterValue === qualifier,
      ),
  );
  if (own) return `${own.StackName} has the qualifier ${qualifier}`;
  throw new Error(
    `no bootstrap has the qualifier ${qualifier} in this region: run npx partner-relay cdk bootstrap --stage ${stage} --qualifier ${qualifier} --toolkit-stack-name CDKToolkit-${qualifier}`,
  );
}

/** https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html */
function deployable(stack: Stack | undefined, name: string): string {
  const { StackStatus: status = 'none', EnableTerminationProtection: isKept } = stack ?? {};
  if (!stack) return 'it does not exist, and will be created';
  if (status === 'ROLLBACK_COMPLETE' || status === 'ROLLBACK_FAILED') {
    // The CDK's command line deletes the stack, unless it is protected.
    if (!isKept) return `its first deployment failed (${status}), so it will be deleted and created again`;
    throw new Error(
      `its first deployment failed (${status}), so it cannot be updated: run aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name ${name} and then aws cloudformation delete-stack --stack-name ${name}. docs/deploy.md#a-first-deployment-fails`,
    );
  }
  if (/_IN_PROGRESS$/.test(status)) throw new Error(`it is being changed (${status}): wait until that has ended`);
  if (/FAILED$/.test(status)) throw new Error(`it is in the state ${status}: look at its events in CloudFormation`);
  return `it will be updated (${status})`;
}

function readable(stack: Stack | undefined, version: string): string {
  const wrote = wroteOf(outputsOf(stack));
  const fault = versionFault(wrote, version);
  if (fault !== undefined) throw new Error(fault);
  return wrote ? `${version} reads what ${wrote.version} wrote` : version;
}

/**
 * Checks for secrets that an earlier deployment left: their names stop the next deployment, which creates its own.
 * @param owned the ids of the stack's resources
 */
async function secretsNotInTheWay(
  names: readonly string[],
  stage: string,
  existing: readonly string[],
  owned: readonly string[],
): Promise<string> {
  const client = new SecretsManagerClient(awsClient());
  const there = new Map<string, string>();
  for (const name of names) {
    const arn = await arnOf(client, `partner-relay/${stage}/${name}`);
    if (arn !== undefined) there.set(name, arn);
  }
  // An emulator's ids of secrets are names, not ARNs.
  const isOwned = ([name, arn]: [string, string]) =>
    owned.includes(arn) || owned.includes(`partner-relay/${stage}/${name}`);
  const left = [...there].filter((one) => !isOwned(one)).map(([name]) => name);
  const unlisted = left.filter((name) => !existing.includes(name));
  const missing = existing.filter((name) => names.includes(name) && !there.has(name));
  if (unlisted.length > 0)
    throw new Error(`${unlisted.join(', ')} exist already: name them in existingSecrets of the stage`);
  if (missing.length > 0) throw new Error(`existingSecrets names ${missing.join(', ')}, which do not exist`);
  return left.length > 0 ? `${left.join(', ')} are used as they are` : 'there are none';
}

async function arnOf(client: SecretsManagerClient, SecretId: string): Promise<string | undefined> {
  const isMissing = (error: Error) => error instanceof ResourceNotFoundException;
  const found = await ifThere(client.send(new DescribeSecretCommand({ SecretId })), isMissing, 'them');
  if (!found?.DeletedDate) return found?.ARN;
  throw new Error(
    `${SecretId} is being deleted, which keeps its name: run aws secretsmanager restore-secret --secret-id ${SecretId} and name it in existingSecrets of the stage`,
  );
}

/** The log groups that the stack creates, in infra/relay-function.ts and infra/entrance.ts. */
export function logNames(config: RelayConfig, stage: string, custom: CustomAutomations): string[] {
  const slugs = [...openFunctions(config, custom), 'job-worker', ...schedules.map(({ slug }) => slug)];
  return [
    ...slugs.map((slug) => `/aws/lambda/partner-relay-${stage}-${slug}`),
    ...(config.deployment.stages[stage]?.httpApi ? [`/aws/apigateway/partner-relay-${stage}`] : []),
  ];
}

/** https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_DescribeLogGroups.html */
const logGroups = z.object({ logGroups: z.array(z.object({ logGroupName: z.string() })) });

/**
 * Checks for log groups that an earlier deployment left, which stop the next one, as secrets do. CloudFormation can
 * import retained resources.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/import-resources-automatically.html
 */
async function logsNotInTheWay(
  names: readonly string[],
  stackName: string,
  { isProtected, isImporting, owned }: { isProtected: boolean; isImporting: boolean; owned: readonly string[] },
): Promise<string> {
  const there: string[] = [];
  for (const logGroupNamePrefix of [`/aws/lambda/${stackName}-`, `/aws/apigateway/${stackName}`]) {
    const question = { service: 'logs', operation: 'Logs_20140328.DescribeLogGroups' };
    const answer = await askInJson(question, { logGroupNamePrefix }, 'check for them yourself');
    there.push(...logGroups.parse(answer).logGroups.map(({ logGroupName }) => logGroupName));
  }
  const left = names.filter((name) => there.includes(name) && !owned.includes(name));
  if (left.length === 0) return 'there are none';
  if (isProtected && isImporting) return `${left.join(', ')} will be imported`;
  const todo = isProtected
    ? 'deploy with --import-existing-resources'
    : 'delete each with aws logs delete-log-group --log-group-name <name>';
  throw new Error(`${left.join(', ')} exist already: ${todo}`);
}
