import type { Asked, StandInAnswer } from '../http-stand-in.ts';
import { KNOWN } from './stage-stand-in.ts';

/** The resources of an account. */
export interface Account {
  stacks: Record<string, string>;
  secrets: string[];
  /** The secrets and logs that the stack owns. */
  owned?: string[];
  /** The secrets that are being deleted. */
  deleted?: string[];
  /** The names of log groups. */
  logs?: string[];
  /** In Amazon Q Developer in chat applications: the workspaces, and the channel of each configuration. */
  slack?: { workspaces: string[]; channels: Record<string, string> };
  executions: number;
  /** Reserved executions, by function. */
  reserved?: Record<string, number>;
  /** The states of tables, by name. */
  tables?: Record<string, string>;
  /** The numbers of VPCs, addresses and gateway endpoints. Each quota is five. */
  networks?: { vpcs: number; addresses: number; gateways: number };
  /** The region of the credentials. Default: eu-central-1. */
  region?: string;
  identity: { status: number; body: string };
  /** The states of alarms, by name. */
  alarms?: Record<string, 'ALARM' | 'OK'> | 'unavailable';
  /** The error of credential-check. */
  functionError?: string;
}

export const BOOTSTRAP =
  '<StackStatus>CREATE_COMPLETE</StackStatus><Parameters><member><ParameterKey>Qualifier</ParameterKey><ParameterValue>relay</ParameterValue></member></Parameters>';

/** An account in which nothing prevents a deployment. */
export const ready: Account = { stacks: { CDKToolkit: BOOTSTRAP }, secrets: [], executions: 1_000, identity: KNOWN };
/** The account with the stack of a version. */
export const ran = (version: string, form = 1) => {
  const outputs = Object.entries({ Version: version, Form: form }).map(
    ([name, value]) => `<member><OutputKey>${name}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  const stack = `<StackStatus>UPDATE_COMPLETE</StackStatus><Outputs>${outputs.join('')}</Outputs>`;
  return { ...ready.stacks, 'partner-relay-prod': stack };
};

/** AWS's answer to a request. */
export function answerOf(account: Account, { route, headers, body }: Asked): StandInAnswer {
  const good = (answer: unknown) => ({ status: 200, body: answer });
  const [, name = ''] = /StackName=([\w-]+)/.exec(body) ?? [];
  if (route.endsWith('/account-settings')) {
    const reserved = Object.values(account.reserved ?? {}).reduce((sum, one) => sum + one, 0);
    const UnreservedConcurrentExecutions = account.executions - reserved;
    return good({ AccountLimit: { ConcurrentExecutions: account.executions, UnreservedConcurrentExecutions } });
  }
  const [, called = ''] = /functions\/([\w-]+)\/concurrency$/.exec(route) ?? [];
  if (called !== '') {
    const ReservedConcurrentExecutions = account.reserved?.[called];
    if (ReservedConcurrentExecutions !== undefined) return good({ ReservedConcurrentExecutions });
    return { status: 404, headers: { 'x-amzn-errortype': 'ResourceNotFoundException' }, body: {} };
  }
  if (headers['x-amz-target'] === 'DynamoDB_20120810.DescribeTable') {
    const TableStatus = account.tables?.[JSON.parse(body).TableName];
    if (TableStatus !== undefined) return good({ Table: { TableStatus } });
    return { status: 400, body: { __type: 'ResourceNotFoundException' } };
  }
  const { vpcs, addresses, gateways } = account.networks ?? { vpcs: 0, addresses: 0, gateways: 0 };
  if (body.includes('Action=DescribeVpcs')) return good('<item><vpcId>vpc-1</vpcId></item>'.repeat(vpcs));
  if (body.includes('Action=DescribeAddresses')) return good('<publicIp>192.0.2.1</publicIp>'.repeat(addresses));
  if (body.includes('Action=DescribeVpcEndpoints')) {
    const ofKind = (kind: string) => `<vpcEndpointType>${kind}</vpcEndpointType><vpcId>vpc-1</vpcId>`;
    return good(ofKind('Gateway').repeat(gateways) + ofKind('Interface'));
  }
  if (headers['x-amz-target'] === 'ServiceQuotasV20190624.GetServiceQuota') return good({ Quota: { Value: 5 } });
  if (body.includes('Action=DescribeStacks')) {
    const stack = account.stacks[name];
    if (stack !== undefined) return good(described(name, stack));
    const error = `<Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id ${name} does not exist</Message></Error>`;
    return { status: 400, body: `<ErrorResponse>${error}</ErrorResponse>` };
  }
  if (body.includes('Action=ListStackResources')) return good(resources(account.owned ?? []));
  if (route.includes('/describe-slack-')) {
    if (!account.slack) return { status: 403, body: { message: 'not authorized to perform' } };
    const { workspaces, channels } = account.slack;
    if (route.endsWith('workspaces'))
      return good({ SlackWorkspaces: workspaces.map((SlackTeamId) => ({ SlackTeamId })) });
    const SlackChannelConfigurations = Object.entries(channels).map(([SlackChannelId, name]) => ({
      SlackChannelId,
      ChatConfigurationArn: `arn:aws:chatbot::123456789012:chat-configuration/slack-channel/${name}`,
    }));
    return good({ SlackChannelConfigurations });
  }
  if (headers['x-amz-target'] === 'Logs_20140328.DescribeLogGroups') {
    const { logGroupNamePrefix } = JSON.parse(body) as { logGroupNamePrefix: string };
    const found = account.logs?.filter((name) => name.startsWith(logGroupNamePrefix)) ?? [];
    return good({ logGroups: found.map((logGroupName) => ({ logGroupName })) });
  }
  if (body.includes('Action=DescribeAlarms')) {
    const { alarms } = account;
    if (alarms === 'unavailable') return { status: 503, body: '' };
    const asked = [...new URLSearchParams(body)].filter(([field]) => field.startsWith('AlarmNames.'));
    // https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html
    if (asked.length > 100) return { status: 400, body: {} };
    const states = asked.flatMap(([, name]) => {
      const state = alarms?.[name];
      return state ? [`<member><AlarmName>${name}</AlarmName><StateValue>${state}</StateValue></member>`] : [];
    });
    return good(states.join(''));
  }
  if (route.endsWith('/invocations')) {
    const error = account.functionError;
    return { status: 200, body: {}, headers: error === undefined ? {} : { 'x-amz-function-error': error } };
  }
  if (headers['x-amz-target'] === 'secretsmanager.DescribeSecret') {
    const { SecretId } = JSON.parse(body) as { SecretId: string };
    if (!account.secrets.includes(SecretId)) return { status: 400, body: { __type: 'ResourceNotFoundException' } };
    const DeletedDate = account.deleted?.includes(SecretId) ? 1_795_000_000 : undefined;
    return good({ ARN: arnOf(SecretId), DeletedDate });
  }
  return account.identity;
}

const arnOf = (secret: string) => `arn:aws:secretsmanager:eu-central-1:123456789012:secret:${secret}-a1B2c3`;

const resources = (owned: readonly string[]) => {
  const members = owned.map((name) => {
    const id = /^(\/aws\/|vpce?-)/.test(name) ? name : arnOf(name);
    return `<member><PhysicalResourceId>${id}</PhysicalResourceId></member>`;
  });
  return `<ListStackResourcesResponse><ListStackResourcesResult><StackResourceSummaries>${members.join('')}</StackResourceSummaries></ListStackResourcesResult></ListStackResourcesResponse>`;
};

const described = (name: string, stack: string) =>
  `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>${name}</StackName>${stack}</member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
