import { existsSync } from 'node:fs';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { ON_COMMAND } from '../lib/aws-limits.ts';
import { configFile, missingInWords } from '../lib/config/config-file.ts';
import { readEnvironment } from '../lib/config/environment.ts';
import { openStores, type Stores } from '../lib/runtime.ts';
import type { Wrote } from '../lib/state/table/versions.ts';
import { findRunning, ownKeyHeader, type RunningRelay } from '../local/state.ts';
import { awsClient } from './aws.ts';
import { type Outputs, outputsOf, wroteOf } from './outputs.ts';

export interface WebhookUrls {
  githubWebhookUrl: string;
  /** Undefined for a stage without Slack. */
  slackWebhookUrl: string | undefined;
  /** The address of the team's webhooks, without the name of one; undefined if the stage has none. */
  hooksUrl?: string | undefined;
}

/** The relay that the command line operates. */
export interface Target extends WebhookUrls {
  /** The local Slack stand-in, if there is no token. */
  slackStandIn?: { url: string; headers: { authorization: string } } | undefined;
  /** The URL of GitHub's local stand-in, if there are no credentials: what the `github` secret holds is for it alone. */
  githubStandIn?: string | undefined;
  /** The relay that runs in this folder. Undefined for a stage. */
  running?: RunningRelay;
  stores: Stores;
  /** The log of the functions, for a relay on this machine. */
  logFile?: string;
  /** For a deployed stage: its name, and the key of the operator's credentials. */
  stage?: string;
  accessKeyId?: string;
  /** The version that is deployed, if the stack says it. */
  wrote?: Wrote | undefined;
  /** Asks CloudFormation whether it is stopped. @returns the sentence that says so, or null */
  stopped?: () => Promise<string | null>;
}

/** Opens the relay of `--stage`, or by default the relay that runs in this folder. */
export type OpenTarget = () => Promise<Target>;

/** The functions' environment variables, and the stack outputs that have their values. */
const VARIABLES = {
  STAGE: 'Stage',
  TABLE_NAME: 'TableName',
  INTERACTIVE_QUEUE_URL: 'InteractiveQueueUrl',
  BACKGROUND_QUEUE_URL: 'BackgroundQueueUrl',
  SECRET_PREFIX: 'SecretPrefix',
} as const;

/** No relay runs in this folder. */
export class NoRelay extends Error {
  override readonly name = 'NoRelay';

  constructor() {
    const file = configFile();
    super(
      existsSync(file)
        ? 'no relay is running in this folder: start one with npx partner-relay start, or name a --stage on AWS'
        : missingInWords(file),
    );
  }
}

/** The relay, if one runs in this folder. @throws {Error} if that of a stage cannot be opened */
export function unlessNone(open: OpenTarget): Promise<Target | undefined> {
  return open().catch((error: unknown) => {
    if (error instanceof NoRelay) return undefined;
    throw error;
  });
}

/** The relay that runs in this folder. @throws {NoRelay} */
export async function relayHere(): Promise<RunningRelay> {
  const running = await findRunning();
  if (running) return running;
  throw new NoRelay();
}

/** @throws {NoRelay} or {Error} if there is no such relay */
export async function openTarget(stage: string | undefined): Promise<Target> {
  if (stage !== undefined) return openStage(stage);
  const running = await relayHere();
  Object.assign(process.env, running.variables);
  return {
    running,
    githubWebhookUrl: `${running.url}/github`,
    slackWebhookUrl: `${running.url}/slack/commands`,
    hooksUrl: `${running.url}/hooks`,
    slackStandIn:
      running.slackStandIn === undefined ? undefined : { url: running.slackStandIn, headers: ownKeyHeader(running) },
    githubStandIn: running.githubStandIn,
    stores: openStoresOf(running.variables),
    logFile: running.logFile,
  };
}

/** A deployed stage, with the caller's own AWS credentials and region. */
async function openStage(stage: string): Promise<Target> {
  const StackName = `partner-relay-${stage}`;
  const client = new CloudFormationClient(awsClient());
  const read = async () => {
    const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName }));
    return outputsOf(Stacks[0]);
  };
  const outputs = await read();
  const output = (name: string) => {
    const value = outputs.get(name);
    if (value === undefined) throw new Error(`the stack ${StackName} has no output ${name}; deploy it again`);
    return value;
  };
  // On standard error, because standard output is for what the command prints.
  const stopped = stoppedInWords(stage, outputs);
  if (stopped !== null) console.error(stopped);
  const variables = Object.fromEntries(Object.entries(VARIABLES).map(([name, key]) => [name, output(key)]));
  return {
    githubWebhookUrl: output('GithubWebhookUrl'),
    slackWebhookUrl: outputs.get('SlackWebhookUrl'),
    hooksUrl: outputs.get('HooksUrl'),
    stores: openStoresOf(variables),
    stage,
    accessKeyId: (await client.config.credentials()).accessKeyId,
    stopped: async () => stoppedInWords(stage, await read()),
    wrote: wroteOf(outputs),
  };
}

function stoppedInWords(stage: string, outputs: Outputs): string | null {
  if (outputs.get('IsRunning') !== 'false') return null;
  return `The stage ${stage} is stopped: npx partner-relay --stage ${stage} start starts it.`;
}

/** @throws {Error} if Slack is not configured */
export function slackWebhookUrlOf({ slackWebhookUrl }: WebhookUrls): string {
  if (slackWebhookUrl === undefined)
    throw new Error(
      'this stage has no slack-webhook, because slack was missing in relay.config.ts when it was deployed',
    );
  return slackWebhookUrl;
}

/** Without the configuration, because jobs can be looked at and decided while the file has a fault. */
function openStoresOf(variables: Readonly<Record<string, string>>): Stores {
  return openStores({ environment: readEnvironment(variables), clock: Date.now }, ON_COMMAND, awsClient());
}
