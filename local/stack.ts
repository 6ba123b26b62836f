import { randomBytes } from 'node:crypto';
import { ONE_MACHINE } from '../lib/config/environment.ts';
import { startAwsStandIn } from './aws-stand-in.ts';
import type { DatabaseServer } from './database-server.ts';
import { startDynamoDb } from './dynamodb.ts';
import { FifoQueue } from './fifo-queue.ts';
import { LocalSecrets } from './local-secrets.ts';

/** The parts of AWS that the functions need, on this machine. */
export type LocalStack = Awaited<ReturnType<typeof startLocalStack>>;

/** The environment variables with the addresses of a stack, for the functions and the command line. */
export type StackVariables = LocalStack['variables'];

/** The values of infra/job-queue.ts. */
export const QUEUE = { visibilityTimeoutMs: 90_000, maxReceiveCount: 100 };

export const openQueues = (clock: () => number, changed = () => {}): FifoQueue[] =>
  ['interactive.fifo', 'background.fifo'].map((name) => new FifoQueue(name, clock, { ...QUEUE, changed }));

export interface LocalStackOptions {
  /** Folder for the table's files. Without it, the table is in memory. */
  tablePath?: string;
  /** A table that is already started. Default: a new one. */
  table?: DatabaseServer & { name: string };
  clock?: () => number;
  /** Called when a message may be receivable. */
  queueChanged?: () => void;
  /** Called with the reason if the table ends by itself. */
  tableFailed?: (why: string) => void;
}

export async function startLocalStack(options: LocalStackOptions = {}) {
  const { clock = Date.now, queueChanged, table, tablePath, tableFailed } = options;
  const secretPrefix = 'partner-relay/local/';
  const tableName = table?.name ?? 'partner-relay-local-2';
  const queues = openQueues(clock, queueChanged);
  const secrets = new LocalSecrets(clock);
  const accessKeyId = `LOCAL${randomBytes(8).toString('hex').toUpperCase()}`;
  const credentials = { AWS_REGION: 'local', AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: 'local' };
  Object.assign(process.env, credentials);
  const [dynamoDb, standIn] = await Promise.all([
    table ?? startDynamoDb({ tableName, accessKeyId, path: tablePath, clock, failed: tableFailed }),
    startAwsStandIn(queues, secrets, accessKeyId),
  ]);
  // After the table, because on AWS these keys are generated after it. The table's clock is always the machine's.
  for (const name of ['markers', 'intake']) {
    secrets.put(secretPrefix + name, { key: randomBytes(32).toString('hex') }, Date.now());
  }
  return {
    queues,
    secrets,
    secretPrefix,
    /** Variables for `process.env` that point the AWS SDK at this stack. */
    variables: {
      ...credentials,
      STAGE: ONE_MACHINE,
      TABLE_NAME: tableName,
      INTERACTIVE_QUEUE_URL: standIn.queueUrl('interactive.fifo'),
      BACKGROUND_QUEUE_URL: standIn.queueUrl('background.fifo'),
      SECRET_PREFIX: secretPrefix,
      AWS_ENDPOINT_URL_DYNAMODB: dynamoDb.endpoint,
      AWS_ENDPOINT_URL_SQS: standIn.endpoint,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: standIn.endpoint,
    },
    async close(): Promise<void> {
      await Promise.all([dynamoDb.close(), standIn.close()]);
    },
  };
}
