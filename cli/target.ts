import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { openStores, type Stores, systemRuntime } from '../lib/runtime.ts';
import { findRunning, ownKeyHeader, type RunningRelay } from '../local/state.ts';

/** The relay that the command line operates. */
export interface Target {
  githubWebhookUrl: string;
  /** Undefined for a stage without Slack. */
  slackWebhookUrl: string | undefined;
  /** The local Slack stand-in, if there is no token. */
  slackStandIn?: { url: string; headers: { authorization: string } } | undefined;
  /** The relay that runs in this folder. Undefined for a stage. */
  running?: RunningRelay;
  stores: Stores;
}

/** Opens the relay of `--stage`, or by default the one that runs in this folder. */
export type OpenTarget = () => Promise<Target>;

/** The functions' environment variables, and the stack outputs that have their values. */
const VARIABLES = {
  STAGE: 'Stage',
  TABLE_NAME: 'TableName',
  INTERACTIVE_QUEUE_URL: 'InteractiveQueueUrl',
  BACKGROUND_QUEUE_URL: 'BackgroundQueueUrl',
  SECRET_PREFIX: 'SecretPrefix',
} as const;

/** @throws {Error} if there is no such relay */
export async function openTarget(stage: string | undefined): Promise<Target> {
  if (stage !== undefined) return openStage(stage);
  const running = await findRunning();
  if (!running)
    throw new Error('no relay is running in this folder: start one with npm start, or name a --stage on AWS');
  Object.assign(process.env, running.variables);
  return {
    running,
    githubWebhookUrl: `${running.url}/github`,
    slackWebhookUrl: `${running.url}/slack/commands`,
    slackStandIn:
      running.slackStandIn === undefined ? undefined : { url: running.slackStandIn, headers: ownKeyHeader(running) },
    stores: await openStoresOf(running.variables),
  };
}

/** A deployed stage, with the caller's own AWS credentials and region. */
async function openStage(stage: string): Promise<Target> {
  const StackName = `partner-relay-${stage}`;
  const { Stacks = [] } = await new CloudFormationClient({}).send(new DescribeStacksCommand({ StackName }));
  const outputs = new Map(Stacks[0]?.Outputs?.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]));
  const output = (name: string) => {
    const value = outputs.get(name);
    if (value === undefined) throw new Error(`the stack ${StackName} has no output ${name}; deploy it again`);
    return value;
  };
  const variables = Object.fromEntries(Object.entries(VARIABLES).map(([name, key]) => [name, output(key)]));
  return {
    githubWebhookUrl: output('GithubWebhookUrl'),
    slackWebhookUrl: outputs.get('SlackWebhookUrl'),
    stores: await openStoresOf(variables),
  };
}

/** @throws {Error} if Slack is not configured */
export function slackWebhookUrlOf({ slackWebhookUrl }: Target): string {
  if (slackWebhookUrl === undefined)
    throw new Error(
      'this stage has no slack-webhook, because slack was missing in relay.config.ts when it was deployed',
    );
  return slackWebhookUrl;
}

async function openStoresOf(variables: Readonly<Record<string, string>>): Promise<Stores> {
  const { default: config } = await import('../relay.config.ts');
  return openStores(systemRuntime(config, variables));
}
