import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs';
import { type AwsLimits, endWithInvocation, IN_FUNCTIONS, ON_COMMAND, ofTry } from './aws-limits.ts';
import { type Environment, ONE_MACHINE, readEnvironment } from './config/environment.ts';
import type { QueueName } from './config/queues.ts';
import type { RelayConfig } from './config/schema.ts';
import { createJobQueue, type JobQueue } from './engine/line/queue.ts';
import { createJobStore, type JobStore } from './engine/record/job-store.ts';
import { createProcessRuns, type ProcessRuns } from './engine/record/process-runs.ts';
import { createMetrics, type Metrics } from './state/metrics/metrics.ts';
import { createSecrets, type Secrets, type SecretTimes } from './state/secrets/secrets.ts';
import { keys } from './state/table/keys.ts';
import { createTable, type Table } from './state/table/table.ts';
import none, { type CustomAutomations } from './triggers/custom-automation.ts';

/** Everything that a function needs apart from its event. Tests set the clock and the randomness. */
export interface Runtime {
  config: RelayConfig;
  /** The team's own automations. */
  custom: CustomAutomations;
  environment: Environment;
  /** Epoch milliseconds. */
  clock: () => number;
  /** From 0 (inclusive) to 1 (exclusive). */
  random: () => number;
  randomBytes: (size: number) => Uint8Array;
  sleep: (ms: number) => Promise<void>;
  fetch: typeof globalThis.fetch;
  /** Lambda writes one JSON record for each object. */
  log: Pick<Console, 'info' | 'warn' | 'error'>;
  metrics: Metrics;
  /** The jobs that run in this process. */
  runs: ProcessRuns;
  /** True on one machine without credentials for GitHub. */
  isGithubStandIn?: boolean;
}

/**
 * Opens the runtime of a function outside tests. @throws {Error} if a variable of the environment is missing or wrong
 */
export function systemRuntime(
  config: RelayConfig,
  variables: Readonly<Record<string, string | undefined>>,
  custom: CustomAutomations = none,
): Runtime {
  const environment = readEnvironment(variables);
  return {
    config,
    custom,
    environment,
    clock: Date.now,
    random: Math.random,
    randomBytes,
    sleep: async (ms) => void (await setTimeout(ms)),
    fetch: globalThis.fetch,
    log: console,
    metrics: createMetrics(environment.STAGE, (line) => process.stdout.write(line), Date.now),
    runs: createProcessRuns(),
  };
}

/** The table with its stores, the queue and the secrets. */
export interface Stores {
  dynamoDb: DynamoDBClient;
  sqs: SQSClient;
  queueUrls: Readonly<Record<QueueName, string>>;
  /** The table's time, in epoch milliseconds. */
  clock: () => number;
  table: Table;
  jobs: JobStore;
  queue: JobQueue;
  secrets: Secrets & SecretTimes;
}

/**
 * The SDK's own defaults, written out. For each default left unset, the SDK searches configuration files that no Lambda
 * has, which is a good part of a cold start.
 * https://docs.aws.amazon.com/sdkref/latest/guide/settings-reference.html
 */
const CLIENT_SETTINGS = {
  retryMode: 'standard',
  defaultsMode: 'standard',
  useDualstackEndpoint: false,
  useFipsEndpoint: false,
  userAgentAppId: '',
  authSchemePreference: [],
  disableClockSkewCorrection: false,
} satisfies SQSClientConfig;

/** A clock that is wrong by more than this is reported. */
const TOLD_FROM_MS = 60_000;

/** Learns the table's time before any decision depends on it, in functions whose first request would be a write. */
export async function ensureTime({ clock, ensureTime }: Table, log: Runtime['log']): Promise<void> {
  if (clock.isKnown()) return;
  await ensureTime(keys.time());
  const aheadSeconds = Math.round(clock.aheadMs() / 1_000);
  if (Math.abs(clock.aheadMs()) < TOLD_FROM_MS) return;
  log.warn({ message: "this machine's clock is wrong; the relay goes by the table's time", aheadSeconds });
}

/** Begins a run of a scheduled function, and notes it for people. A failure of the note does not stop the run. */
export async function beginRun(slug: string, table: Table, log: Runtime['log']): Promise<void> {
  await ensureTime(table, log);
  const unnoted = (error: unknown) => log.warn({ message: 'the run could not be noted', slug, error: String(error) });
  await table.put({ ...keys.scheduleRun(slug), at: table.clock.now() }).catch(unnoted);
}

/**
 * While Lambda starts a function, reads the secrets for its first event and the table's time, so that the event waits
 * for neither. The event repeats what fails here.
 *
 * @param read starts to read an item that every event needs. The answer also brings the table's time
 */
export function prepare(
  { environment, log }: Runtime,
  { table, secrets }: Stores,
  names: readonly string[],
  read = () => {},
): void {
  if (environment.AWS_LAMBDA_INITIALIZATION_TYPE === undefined) return;
  for (const name of names) secrets.prepare(name);
  read();
  ensureTime(table, log).catch(() => {});
}

/** The settings of a process for calls to AWS, where the SDK's defaults do not fit. */
export type AwsClient = Pick<SQSClientConfig, 'credentials'> & {
  requestHandler: { httpsAgent: { proxyEnv: Readonly<Record<string, string | undefined>> } };
  ignoreConfiguredEndpointUrls?: boolean;
};

/**
 * Sends the SDK's requests through a proxy. Node's built-in proxy support covers only fetch and its global agents, and
 * the SDK has its own agent.
 * https://nodejs.org/docs/latest-v24.x/api/http.html#built-in-proxy-support
 */
function asFunction({ HTTPS_PROXY, NO_PROXY }: Environment): AwsClient {
  return {
    requestHandler: { httpsAgent: { proxyEnv: { HTTPS_PROXY, NO_PROXY } } },
    // Otherwise, the first request of each client would wait for files that no Lambda has.
    ignoreConfiguredEndpointUrls: true,
  };
}

/**
 * Opens the stores that the environment names. Calls AWS only at the first use of a store.
 *
 * @param limits of a call to AWS. On one machine, the limits of a command apply, because the database shares the
 * processor with everything else
 * @param aws by default, the settings of a function
 */
export function openStores(
  { environment, clock: ownClock, log }: Pick<Runtime, 'environment' | 'clock'> & Partial<Pick<Runtime, 'log'>>,
  limits: AwsLimits = IN_FUNCTIONS,
  aws: AwsClient = asFunction(environment),
): Stores {
  const { tries, tryMs } = environment.STAGE === ONE_MACHINE ? ON_COMMAND : limits;
  const settingsAt = (endpoint = environment.AWS_ENDPOINT_URL) => ({
    ...CLIENT_SETTINGS,
    ...aws,
    maxAttempts: tries,
    requestHandler: { ...aws.requestHandler, ...ofTry(tryMs) },
    ...(endpoint !== undefined && { endpoint }),
  });
  const dynamoDb = new DynamoDBClient({
    ...settingsAt(environment.AWS_ENDPOINT_URL_DYNAMODB),
    accountIdEndpointMode: 'preferred',
  });
  const sqs = new SQSClient(settingsAt(environment.AWS_ENDPOINT_URL_SQS));
  const secretsManager = new SecretsManagerClient(settingsAt(environment.AWS_ENDPOINT_URL_SECRETS_MANAGER));
  for (const { middlewareStack, config } of [dynamoDb, sqs, secretsManager]) {
    middlewareStack.remove('loggerMiddleware');
    endWithInvocation(config.requestHandler);
  }
  const table = createTable(dynamoDb, environment.TABLE_NAME, ownClock);
  const clock = table.clock.now;
  const queueUrls = { interactive: environment.INTERACTIVE_QUEUE_URL, background: environment.BACKGROUND_QUEUE_URL };
  return {
    dynamoDb,
    table,
    clock,
    jobs: createJobStore(table, clock, log?.warn),
    sqs,
    queueUrls,
    queue: createJobQueue(sqs, queueUrls),
    secrets: createSecrets(secretsManager, environment.SECRET_PREFIX, clock),
  };
}
