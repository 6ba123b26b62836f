import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs';
import { type Environment, readEnvironment } from './config/environment.ts';
import type { RelayConfig } from './config/schema.ts';
import { createJobStore, type JobStore } from './jobs/job-store.ts';
import { createJobQueue, type JobQueue } from './jobs/queue.ts';
import type { IssueState } from './links/issue-state.ts';
import { createLinks, type Links } from './links/links.ts';
import { createMetrics, type Metrics } from './metrics/metrics.ts';
import { createSecrets, type Secrets } from './secrets/secrets.ts';
import { createTable, type Table } from './table/table.ts';

/** Everything that a function needs apart from its event. Tests set the clock and the randomness. */
export interface Runtime {
  config: RelayConfig;
  environment: Environment;
  /** Epoch milliseconds. */
  clock: () => number;
  /** At least 0, below 1. */
  random: () => number;
  randomBytes: (size: number) => Uint8Array;
  sleep: (ms: number) => Promise<void>;
  fetch: typeof globalThis.fetch;
  /** Lambda makes one JSON record of each object. */
  log: Pick<Console, 'info' | 'warn' | 'error'>;
  metrics: Metrics;
}

/** The real one. @throws {Error} for an environment that lacks something */
export function systemRuntime(config: RelayConfig, variables: Readonly<Record<string, string | undefined>>): Runtime {
  const environment = readEnvironment(variables);
  return {
    config,
    environment,
    clock: Date.now,
    random: Math.random,
    randomBytes,
    sleep: async (ms) => void (await setTimeout(ms)),
    fetch: globalThis.fetch,
    log: console,
    metrics: createMetrics(environment.STAGE, (line) => process.stdout.write(line), Date.now),
  };
}

/** The table. */
export interface Stores {
  table: Table;
  jobs: JobStore;
  queue: JobQueue;
  links: Links<IssueState>;
  secrets: Secrets;
}

/**
 * The SDK's own defaults, spelt out: what is left open it looks for in the shared configuration files, which no Lambda
 * has, and that is a good part of a cold start.
 * https://docs.aws.amazon.com/sdkref/latest/guide/settings-reference.html
 */
const CLIENT_SETTINGS = {
  maxAttempts: 3,
  retryMode: 'standard',
  defaultsMode: 'standard',
  useDualstackEndpoint: false,
  useFipsEndpoint: false,
  userAgentAppId: '',
  authSchemePreference: [],
} satisfies SQSClientConfig;

/** Opens the stores that the environment names. Nothing is asked of AWS before the first use. */
export function openStores({ environment, clock }: Pick<Runtime, 'environment' | 'clock'>): Stores {
  const table = createTable(
    new DynamoDBClient({ ...CLIENT_SETTINGS, accountIdEndpointMode: 'preferred' }),
    environment.TABLE_NAME,
    clock,
  );
  return {
    table,
    jobs: createJobStore(table, clock),
    queue: createJobQueue(new SQSClient(CLIENT_SETTINGS), {
      interactive: environment.INTERACTIVE_QUEUE_URL,
      background: environment.BACKGROUND_QUEUE_URL,
    }),
    links: createLinks<IssueState>(table, clock),
    secrets: createSecrets(new SecretsManagerClient(CLIENT_SETTINGS), environment.SECRET_PREFIX, clock),
  };
}
