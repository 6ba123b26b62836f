import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createStateTable, startDynamoDb } from '../../local/dynamodb.ts';

/** A server of DynamoDB with an empty state table, for the clients of this process. */
export interface TableServer {
  endpoint: string;
  tableName: string;
  close(): Promise<void>;
}

const tableName = 'tested';
const accessKeyId = 'LOCAL';

/** The server of `npm start`. */
export async function startDynalite(): Promise<TableServer> {
  useKey();
  return { ...(await startDynamoDb({ tableName, accessKeyId })), tableName };
}

/** @param start starts a server without tables */
export async function withTable(start: () => Promise<Omit<TableServer, 'tableName'>>): Promise<TableServer> {
  useKey();
  const server = await start();
  const client = new DynamoDBClient({ endpoint: server.endpoint });
  await createStateTable(client, tableName);
  client.destroy();
  return { ...server, tableName };
}

function useKey(): void {
  Object.assign(process.env, { AWS_REGION: 'local', AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: 'local' });
}
