import { existsSync } from 'node:fs';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { ON_COMMAND } from '../lib/aws-limits.ts';
import { configFile, missingInWords } from '../lib/config/config-file.ts';
import { readEnvironment } from '../lib/config/environment.ts';
import { openStores, type Stores } from '../lib/runtime.ts';
import { SecretError } from '../lib/state/secrets/secrets.ts';
import type { Wrote } from '../lib/state/table/versions.ts';
import { findRunning, ownKeyHeader, type RunningRelay } from '../local/state.ts';
import { awsClient } from './aws.ts';
import { type Outputs, outputsOf, wroteOf } from './outputs.ts';

export interface WebhookUrls {
  githubWebhookUrl: string;
  /** Undefined if the stage has no Slack. */
  slackWebhookUrl: string | undefined;
  /** The address of the team's webhooks, without a webhook's name; undefined without webhooks. */
  hooksUrl?: string | undefined;
}

/** The relay that a command works on. */
export interface Target extends WebhookUrls {
  /** The local stand-in for Slack, if there is no token. */
  slackStandIn?: { url: string; headers: { authorization: string } } | undefined;
  /**
   * The URL of the local stand-in for GitHub, if there are no credentials. The `github` secret is then the stand-in's.
   */
  githubStandIn?: string | undefined;
  /** The relay that runs in this folder; undefined for a stage. */
  running?: RunningRelay;
  stores: Stores;
  /** The log of the functions, for a relay on this machine. */
  logFile?: string;
  /** For a stage: its name, and the key of the operator's credentials. */
  stage?: string;
  accessKeyId?: string;
  /** The deployed version, if the stack has it. */
  wrote?: Wrote | undefined;
  /** Asks CloudFormation whether the stage is stopped. @returns a sentence that says so, or null */
  stopped?: () => Promise<string | null>;
}

/** Opens the relay of `--stage`, or by default the relay that runs in this folder. */
export type OpenTarget = () => Promise<Target>;

/** The functions' environment variables, and the stack outputs with the same values. */
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

/** Returns the relay, or undefined if none runs in this folder. @throws {Error} if a stage's relay cannot be opened */
export function unlessNone(open: OpenTarget): Promise<Target | undefined> {
  return open().catch((error: unknown) => {
    if (error instanceof NoRelay) return undefined;
    throw error;
  });
}

/**
 * Reads a secret that a start enters, which on this machine is missing only if relay.config.ts has changed since.
 * @param what needs the secret
 */
export async function enteredAtStart<T>(what: string, { running }: Target, read: Promise<T>): Promise<T> {
  return read.catch((error: unknown) => {
    if (!running || !(error instanceof SecretError)) throw error;
    const why = `the relay started without ${what}: name it in relay.config.ts, and restart the relay`;
    throw new SecretError(why, { cause: error });
  });
}

/** Returns the relay that runs in this folder. @throws {NoRelay} */
export async function relayHere(): Promise<RunningRelay> {
  const running = await findRunning();
  if (running) return running;
  throw new NoRelay();
}

/** Opens a relay. @throws {NoRelay} or {Error} if it does not exist */
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

/** Opens a deployed stage with the caller's own AWS credentials and region. */
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
  // To standard error, because standard output is for the command's result.
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
  return `The stage ${stage} is stopped. To start it: npx partner-relay --stage ${stage} start`;
}

/** Returns the URL. @throws {Error} if Slack is not configured */
export function slackWebhookUrlOf({ slackWebhookUrl }: WebhookUrls): string {
  if (slackWebhookUrl === undefined)
    throw new Error(
      'this stage has no slack-webhook, because slack was missing in relay.config.ts when it was deployed',
    );
  return slackWebhookUrl;
}

/**
 * Opens the stores without the configuration, so that jobs can be read and decided while relay.config.ts has a fault.
 */
function openStoresOf(variables: Readonly<Record<string, string>>): Stores {
  return openStores({ environment: readEnvironment(variables), clock: Date.now }, ON_COMMAND, awsClient());
}
