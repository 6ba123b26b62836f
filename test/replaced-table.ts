import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DeleteTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  PutItemCommand,
  paginateScan,
  waitUntilTableExists,
  waitUntilTableNotExists,
} from '@aws-sdk/client-dynamodb';
import type { TestRelay } from './relay.ts';

/** The items of a table, as a backup has them. */
export type Backup = NonNullable<PutItemCommand['input']['Item']>[];

const asksEveryMs = { maxWaitTime: 10, minDelay: 0.01, maxDelay: 0.01 };

export async function backUp({ stack }: TestRelay): Promise<Backup> {
  const items: Backup = [];
  const scanned = paginateScan({ client: new DynamoDBClient({}) }, { TableName: stack.variables.TABLE_NAME });
  for await (const { Items = [] } of scanned) items.push(...Items);
  return items;
}

/** The table is lost, and a new one of the same name has these items. */
export async function replaceTable({ stack, clock }: TestRelay, items: Backup): Promise<void> {
  const client = new DynamoDBClient({});
  const { TABLE_NAME: TableName } = stack.variables;
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  await client.send(new DeleteTableCommand({ TableName }));
  await waitUntilTableNotExists({ client, ...asksEveryMs }, { TableName });
  const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes = [] } = Table ?? {};
  const indexes = GlobalSecondaryIndexes.map(({ IndexName, KeySchema, Projection }) => ({
    IndexName,
    KeySchema,
    Projection,
  }));
  const same = { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes: indexes, BillingMode: 'PAY_PER_REQUEST' };
  await client.send(new CreateTableCommand({ TableName, ...same } as CreateTableCommandInput));
  await waitUntilTableExists({ client, ...asksEveryMs }, { TableName });
  for (const Item of items) await client.send(new PutItemCommand({ TableName, Item }));
  clock.now += 10 * 60_000;
}
