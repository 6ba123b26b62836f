import {
  CloudFormationClient,
  CloudFormationServiceException,
  DescribeStacksCommand,
  paginateListStackResources,
  type Stack,
} from '@aws-sdk/client-cloudformation';
import {
  DescribeSecretCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import type { RelayConfig } from '../../lib/config/schema.ts';
import { linksAccounts, takesLinkedAccounts } from '../../lib/config/settings.ts';
import { awsClient } from '../aws.ts';
import { awsErrorInWords } from '../aws-errors.ts';
import { callerArn } from '../caller.ts';
import { CannotTell, check, type Finding } from './finding.ts';
import { checkStage } from './stage.ts';

/**
 * Reads the account, and says what would stop a deployment of the stage. What cannot be read without more rights is
 * unknown.
 */
export async function checkBeforeDeploy(config: RelayConfig, stage: string): Promise<Finding[]> {
  const settings = config.deployment.stages[stage];
  if (!settings) {
    const known = Object.keys(config.deployment.stages).join(', ');
    return [{ what: 'stage', verdict: 'bad', detail: `relay.config.ts has no stage '${stage}'; it has ${known}` }];
  }
  const cloudFormation = new CloudFormationClient(awsClient());
  const whose = await check('credentials', async () => {
    const region = await cloudFormation.config.region();
    return `${await callerArn()} in ${region}: deploy with the same ones, and check that the region is the right one`;
  });
  // Without credentials, everything else would say the same.
  if (whose.verdict !== 'good') return [whose];
  const { kmsKeyArn, protected: isProtected, existingSecrets, slackAlarms } = settings;
  const region = await cloudFormation.config.region();
  const stackName = `partner-relay-${stage}`;
  return [
    whose,
    ...(kmsKeyArn === undefined ? [] : [await check('region of kmsKeyArn', async () => sameRegion(kmsKeyArn, region))]),
    await check('recipients of alarms', async () => {
      const { emails } = config.deployment.alarms;
      if (emails.length > 0 || slackAlarms) return emails.join(', ') || 'a channel in Slack';
      if (isProtected)
        throw new Error('a protected stage needs an address in deployment.alarms.emails, or slackAlarms');
      throw new CannotTell('nobody is told of alarms: name an address in deployment.alarms.emails');
    }),
    await check('bootstrap', async () => bootstrapped(cloudFormation, settings.bootstrapQualifier, stage)),
    await check(`stack ${stackName}`, async () => deployable(await find(cloudFormation, stackName), stackName)),
    await check('secrets', async () => {
      const owned = (await find(cloudFormation, stackName)) ? await secretsOf(cloudFormation, stackName) : [];
      return notInTheWay(config, stage, existingSecrets, owned);
    }),
    ...(await checkStage(config, stage)),
    ...(settings.httpApi
      ? []
      : [
          unknown(
            'public URLs',
            'a policy of your organization may deny function URLs with AuthType NONE. If it does, set httpApi of the stage',
          ),
        ]),
    ...(slackAlarms
      ? [
          unknown(
            'slackAlarms',
            `the workspace ${slackAlarms.workspaceId} must be authorized in Amazon Q Developer in chat applications, and no other stage may have the channel`,
          ),
        ]
      : []),
  ];
}

const unknown = (what: string, detail: string): Finding => ({ what, verdict: 'unknown', detail });

function sameRegion(arn: string, region: string): string {
  const [, , , ofKey] = arn.split(':');
  if (ofKey === region) return region;
  throw new Error(`the key is in ${ofKey}, and your credentials are for ${region}: set AWS_REGION=${ofKey}`);
}

/** @returns undefined if there is none. @throws {CannotTell} without the right to look */
async function find(client: CloudFormationClient, StackName: string): Promise<Stack | undefined> {
  try {
    const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName }));
    // Only planned. The CLI of the CDK makes it all the same.
    return Stacks[0]?.StackStatus === 'REVIEW_IN_PROGRESS' ? undefined : Stacks[0];
  } catch (error) {
    if (!(error instanceof CloudFormationServiceException)) throw error;
    if (/does not exist/.test(error.message)) return undefined;
    if (/AccessDenied/.test(error.name)) throw new CannotTell(`you may not look at it: ${error.message}`);
    throw new Error(awsErrorInWords(error) ?? error.message, { cause: error });
  }
}

/** The ARNs of the secrets that the stack owns. */
async function secretsOf(client: CloudFormationClient, StackName: string): Promise<string[]> {
  const arns: string[] = [];
  for await (const { StackResourceSummaries = [] } of paginateListStackResources({ client }, { StackName }))
    for (const { ResourceType, PhysicalResourceId = '' } of StackResourceSummaries)
      if (ResourceType === 'AWS::SecretsManager::Secret') arns.push(PhysicalResourceId);
  return arns;
}

/** The bootstrap of the qualifier: its stack has any name, and the one of its parameter. */
async function bootstrapped(client: CloudFormationClient, qualifier: string, stage: string): Promise<string> {
  const names = ['CDKToolkit', `CDKToolkit-${qualifier}`];
  const found = (await Promise.all(names.map((name) => find(client, name)))).filter((stack) => stack !== undefined);
  const own = found.find(({ Parameters = [] }) =>
    Parameters.some(({ ParameterKey, ParameterValue }) => ParameterKey === 'Qualifier' && ParameterValue === qualifier),
  );
  if (own) return `${own.StackName} has the qualifier ${qualifier}`;
  throw new Error(
    `no bootstrap has the qualifier ${qualifier} in this region: run npx cdk bootstrap -c stage=${stage}, with --qualifier ${qualifier} --toolkit-stack-name CDKToolkit-${qualifier} if the account has another`,
  );
}

/** https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html */
function deployable(stack: Stack | undefined, name: string): string {
  const { StackStatus: status = 'none', EnableTerminationProtection: isKept } = stack ?? {};
  if (!stack) return 'it is made';
  if (status === 'ROLLBACK_COMPLETE' || status === 'ROLLBACK_FAILED') {
    const first = isKept
      ? `aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name ${name} and then `
      : '';
    throw new Error(
      `its first deployment failed (${status}), so it cannot be updated: run ${first}aws cloudformation delete-stack --stack-name ${name}. docs/deploy.md#a-first-deployment-fails`,
    );
  }
  if (/_IN_PROGRESS$/.test(status)) throw new Error(`it is being changed (${status}): wait until that has ended`);
  if (/FAILED$/.test(status)) throw new Error(`it is in the state ${status}: look at its events in CloudFormation`);
  return `it is updated (${status})`;
}

/**
 * Secrets that earlier deployments left stop the next one, which makes its own.
 * @param owned the ARNs of those that the stack has already
 */
async function notInTheWay(
  config: RelayConfig,
  stage: string,
  existing: readonly string[],
  owned: readonly string[],
): Promise<string> {
  const client = new SecretsManagerClient(awsClient());
  const names = secretNames(config);
  const there = new Map<string, string>();
  for (const name of names) {
    const arn = await arnOf(client, `partner-relay/${stage}/${name}`);
    if (arn !== undefined) there.set(name, arn);
  }
  const left = [...there].filter(([, arn]) => !owned.includes(arn)).map(([name]) => name);
  const unlisted = left.filter((name) => !existing.includes(name));
  const missing = existing.filter((name) => names.includes(name) && !there.has(name));
  if (unlisted.length > 0)
    // What keeps its secrets keeps its logs, which have names, too.
    throw new Error(
      `${unlisted.join(', ')} exist already: name them in existingSecrets of the stage. If a removed stack left logs, too, deploy with --import-existing-resources`,
    );
  if (missing.length > 0) throw new Error(`existingSecrets names ${missing.join(', ')}, which do not exist`);
  return left.length > 0 ? `${left.join(', ')} are used as they are` : 'none is in the way';
}

/** Those that infra/secrets.ts makes. */
export function secretNames(config: RelayConfig): string[] {
  const connections = Object.keys(config.connections);
  const calendars = config.timesheets?.teams.filter(({ absence }) => absence.calendar) ?? [];
  return [
    ...['github-webhook', 'github', 'markers'],
    ...(config.slack ? ['slack'] : []),
    ...(takesLinkedAccounts(config) ? ['grants', 'intake'] : []),
    ...(linksAccounts(config) ? connections.map((name) => `instance/${name}`) : []),
    ...connections.map((name) => `partner/${name}`),
    ...calendars.map(({ name }) => `calendar/${name}`),
  ];
}

async function arnOf(client: SecretsManagerClient, SecretId: string): Promise<string | undefined> {
  try {
    const { ARN, DeletedDate } = await client.send(new DescribeSecretCommand({ SecretId }));
    if (!DeletedDate) return ARN;
    throw new Error(
      `${SecretId} is being deleted, which keeps its name: run aws secretsmanager restore-secret --secret-id ${SecretId} and name it in existingSecrets of the stage`,
    );
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    if (error instanceof Error && /AccessDenied/.test(error.name))
      throw new CannotTell(`you may not look at them: ${error.message}`);
    throw error;
  }
}
