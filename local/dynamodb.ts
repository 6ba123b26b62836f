import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  PutItemCommand,
  paginateScan,
  ResourceInUseException,
  ResourceNotFoundException,
} from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { jobsByStatus, waitingLine } from '../lib/table/keys.ts';
import type { DatabaseAnswer, DatabaseOrder } from './database-process.ts';
import { type DatabaseServer, startDatabaseServer } from './database-server.ts';

export interface LocalDynamoDbOptions {
  tableName: string;
  /** Only requests under this access key are answered. */
  accessKeyId: string;
  /** Folder of its files; without one everything is in memory. */
  path?: string | undefined;
  /** Of the table of a version that had other indexes: what it holds is taken over. */
  earlierName?: string;
}

/**
 * DynamoDB on this machine, with the state table in it. With files it has a process of its own, which ends with this one.
 *
 * @throws {Error} where the files cannot be opened
 */
export async function startDynamoDb(options: LocalDynamoDbOptions): Promise<DatabaseServer> {
  const { tableName, accessKeyId, path, earlierName } = options;
  const server = await (path ? startProcess({ accessKeyId, path }) : startDatabaseServer(accessKeyId));
  const credentials = { accessKeyId, secretAccessKey: 'local' };
  const client = new DynamoDBClient({ endpoint: server.endpoint, region: 'local', credentials });
  await createStateTable(client, tableName);
  if (earlierName) await takeOver(client, earlierName, tableName);
  if (path) await mendIndex(client, tableName);
  client.destroy();
  return server;
}

/** @throws {Error} with the path of files that cannot be opened */
async function startProcess(order: DatabaseOrder): Promise<DatabaseServer> {
  // It needs none of the secrets in the environment. Young objects take little room, as in `npm start`.
  const child = fork(fileURLToPath(new URL('database-process.ts', import.meta.url)), {
    env: {},
    execArgv: ['--max-semi-space-size=4'],
  });
  const ended = once(child, 'exit');
  const failed = (code: unknown) => {
    throw new Error(`the process of the database ended with ${code}; start the relay again`);
  };
  child.once('exit', failed);
  child.send(order);
  const [answer] = (await once(child, 'message')) as [DatabaseAnswer];
  const close = async () => {
    child.off('exit', failed);
    child.disconnect();
    await ended;
  };
  if ('endpoint' in answer) return { endpoint: answer.endpoint, close };
  await close();
  throw new Error(answer.failure);
}

/** The table as infra/state-table.ts deploys it, apart from time to live, which dynalite does not have. */
async function createStateTable(client: DynamoDBClient, tableName: string): Promise<void> {
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
 * Moves what an earlier version kept, because dynalite cannot add an index to a table. The relay does not run yet, so a
 * process that is killed in between starts from the beginning.
 */
async function takeOver(client: DynamoDBClient, from: string, to: string): Promise<void> {
  try {
    for await (const { Items = [] } of paginateScan({ client }, { TableName: from, ConsistentRead: true })) {
      for (const Item of Items) await client.send(new PutItemCommand({ TableName: to, Item }));
    }
    await client.send(new DeleteTableCommand({ TableName: from }));
  } catch (error) {
    if (!(error instanceof ResourceNotFoundException)) throw error;
  }
}

/**
 * dynalite writes an item's entry in the index first and the item after it, not both at once. A process that is killed
 * in between leaves an entry that is ahead of its item, and that no condition on the item ever meets, or takes the old
 * entry away and leaves none: nobody would look at that job again. The first is a write that nobody was told of yet,
 * and is completed; of the second the entry is written again.
 */
async function mendIndex(client: DynamoDBClient, TableName: string): Promise<void> {
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
      // Writing the item takes away the entry that was just written over it.
      if (others.length < found.length ? others.length > 0 : found.length === 0) await put(item);
    }
  }
  for (const ahead of entries.values()) for (const entry of ahead) await put(entry);
}
