import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  PutItemCommand,
  paginateScan,
  ResourceInUseException,
} from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { ON_COMMAND, ofTry } from '../lib/aws-limits.ts';
import { SOURCE } from '../lib/project.ts';
import { jobsByStatus, waitingLine } from '../lib/state/table/keys.ts';
import type { DatabaseAnswer, DatabaseFailure, DatabaseOrder } from './database-process.ts';
import { type DatabaseServer, startDatabaseServer } from './database-server.ts';

export interface LocalDynamoDbOptions {
  tableName: string;
  /** Requests with another access key are refused. */
  accessKeyId: string;
  /** Folder for the table's files. Without it, everything is in memory. */
  path?: string | undefined;
  /** The clock for the dates of answers, if the database runs in this process. */
  clock?: () => number;
  /** Called with the reason if the database process ends by itself. */
  failed?: ((why: string) => void) | undefined;
}

/**
 * Runs DynamoDB on this machine, with the state table. With files, it runs in its own process, which ends with this
 * one.
 *
 * @throws {Error} if the files cannot be opened
 */
export async function startDynamoDb(options: LocalDynamoDbOptions): Promise<DatabaseServer> {
  const { tableName, accessKeyId, path, clock, failed } = options;
  const server = await (path
    ? startProcess({ accessKeyId, path }, failed)
    : startDatabaseServer(accessKeyId, undefined, clock));
  const credentials = { accessKeyId, secretAccessKey: 'local' };
  const requestHandler = ofTry(ON_COMMAND.tryMs);
  const client = new DynamoDBClient({ endpoint: server.endpoint, region: 'local', credentials, requestHandler });
  await createStateTable(client, tableName);
  if (path) await repairIndex(client, tableName);
  client.destroy();
  return server;
}

/** Starts the database process. @throws {Error} if it cannot open the files; the message has their path */
async function startProcess(order: DatabaseOrder, failed: LocalDynamoDbOptions['failed']): Promise<DatabaseServer> {
  // Without the secrets in the environment, which the process does not need. The heap's young generation is small, as
  // in `partner-relay start`.
  const child = fork(fileURLToPath(new URL(`database-process${SOURCE}`, import.meta.url)), {
    env: {},
    execArgv: ['--max-semi-space-size=4'],
  });
  const ended = once(child, 'exit');
  const tellEnd = (code: unknown) => failed?.(`the process of the database ended with ${code}; start the relay again`);
  child.once('exit', tellEnd);
  child.send(order);
  const [answer] = (await once(child, 'message')) as [DatabaseAnswer];
  child.once('message', ({ broken }: DatabaseFailure) => failed?.(broken));
  const close = async () => {
    child.off('exit', tellEnd);
    if (child.connected) child.disconnect();
    await ended;
  };
  if ('endpoint' in answer) return { endpoint: answer.endpoint, close };
  await close();
  throw new Error(answer.failure);
}

/** Creates the table as infra/state-table.ts deploys it, but without time to live, which dynalite does not have. */
export async function createStateTable(client: DynamoDBClient, tableName: string): Promise<void> {
  try {
    await client.send(
      new CreateTableCommand({
        TableName: tableName,
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
        AttributeDefinitions: [
          { AttributeName: 'pk', AttributeType: 'S' },
          { AttributeName: 'sk', AttributeType: 'S' },
          { AttributeName: jobsByStatus.partition, AttributeType: 'S' },
          { AttributeName: jobsByStatus.sort, AttributeType: 'N' },
          { AttributeName: waitingLine.partition, AttributeType: 'S' },
          { AttributeName: waitingLine.sort, AttributeType: 'N' },
        ],
        GlobalSecondaryIndexes: [
          {
            IndexName: jobsByStatus.name,
            KeySchema: [
              { AttributeName: jobsByStatus.partition, KeyType: 'HASH' },
              { AttributeName: jobsByStatus.sort, KeyType: 'RANGE' },
            ],
            Projection: { ProjectionType: 'ALL' },
          },
          {
            IndexName: waitingLine.name,
            KeySchema: [
              { AttributeName: waitingLine.partition, KeyType: 'HASH' },
              { AttributeName: waitingLine.sort, KeyType: 'RANGE' },
            ],
            Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: [...waitingLine.attributes] },
          },
        ],
      }),
    );
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
  }
  for (;;) {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: tableName }));
    if (Table?.TableStatus === 'ACTIVE') return;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/**
 * Repairs the index. dynalite writes an index entry first and then the item, not both at once, so a kill in between
 * leaves one of two faults:
 *
 * - The entry is ahead of its item, so no condition on the item can match it. That write was never acknowledged, and is
 * completed here.
 * - The old entry is deleted, and there is no new one, so the sweep would never find the job. The entry is written
 * again.
 */
async function repairIndex(client: DynamoDBClient, TableName: string): Promise<void> {
  type Attributes = NonNullable<PutItemCommand['input']['Item']>;
  const put = (Item: Attributes) => client.send(new PutItemCommand({ TableName, Item }));
  const entries = new Map<string, Attributes[]>();
  for await (const { Items = [] } of paginateScan({ client }, { TableName, IndexName: jobsByStatus.name })) {
    for (const entry of Items) entries.set(entry.pk?.S ?? '', [...(entries.get(entry.pk?.S ?? '') ?? []), entry]);
  }
  for await (const { Items = [] } of paginateScan({ client }, { TableName, ConsistentRead: true })) {
    for (const item of Items) {
      if (item.sk?.S !== 'job') continue;
      const found = entries.get(item.pk?.S ?? '') ?? [];
      entries.delete(item.pk?.S ?? '');
      const others = found.filter((entry) => !isDeepStrictEqual(unmarshall(entry), unmarshall(item)));
      for (const entry of others) await put(entry);
      // This write removes the entry that the writes above added.
      if (others.length < found.length ? others.length > 0 : found.length === 0) await put(item);
    }
  }
  for (const ahead of entries.values()) for (const entry of ahead) await put(entry);
}
