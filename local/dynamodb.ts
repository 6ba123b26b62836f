import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceInUseException,
} from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { jobsByStatus } from '../lib/table/keys.ts';

/** DynamoDB on this machine, with the state table in it. */
export interface LocalDynamoDb {
  endpoint: string;
  close(): Promise<void>;
}

/** @param path folder of its files; without one everything is in memory */
export async function startDynamoDb(tableName: string, path?: string): Promise<LocalDynamoDb> {
  const server = dynalite({ createTableMs: 0, ...(path && { path }) });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await createStateTable(new DynamoDBClient({ endpoint }), tableName);
  return {
    endpoint,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
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
