import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { DatabaseServer } from '../../local/database-server.ts';
import { startDynamoDb } from '../../local/dynamodb.ts';
import { newFolder } from '../new-folder.ts';

const accessKeyId = 'LOCALTEST';
const tableName = 'now';
const module = new URL('../../local/dynamodb.ts', import.meta.url).href;

let path: string;
let opened: DatabaseServer[];
beforeEach(() => {
  path = join(newFolder(), 'dynamodb');
  opened = [];
});
afterEach(() => Promise.all(opened.map((database) => database.close())));

async function open(): Promise<{ database: DatabaseServer; client: DynamoDBClient }> {
  const database = await startDynamoDb({ tableName, accessKeyId, path });
  opened.push(database);
  const credentials = { accessKeyId, secretAccessKey: 'local' };
  return { database, client: new DynamoDBClient({ endpoint: database.endpoint, region: 'local', credentials }) };
}

const read = async (client: DynamoDBClient) => {
  const Key = { pk: { S: 'job#nothing' }, sk: { S: 'job' } };
  return (await client.send(new GetItemCommand({ TableName: tableName, Key }))).Item;
};

/** A process that owns a database, as a relay does. */
async function startOwner(): Promise<{ process: ChildProcess; endpoint: string }> {
  const script = `import { startDynamoDb } from ${JSON.stringify(module)};
    const { endpoint } = await startDynamoDb(${JSON.stringify({ tableName, accessKeyId, path })});
    console.log(endpoint);
    setInterval(() => {}, 1000);`;
  const owner = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [endpoint] = await once(owner.stdout.setEncoding('utf8'), 'data');
  return { process: owner, endpoint: String(endpoint).trim() };
}

it('the database ends with its relay, even if the relay is killed, and lets the next one in', async () => {
  const owner = await startOwner();
  owner.process.kill('SIGKILL');
  const { client, database } = await open();
  expect(database.endpoint).not.toBe(owner.endpoint);
  await expect(fetch(owner.endpoint)).rejects.toThrow('fetch failed');
  expect(await read(client)).toBeUndefined();
});

it('the database keeps running for its relay when the terminal interrupts both', async () => {
  const { database, client } = await open();
  const pid = Number(execFileSync('pgrep', ['-P', `${process.pid}`, '-f', 'database-process'], { encoding: 'utf8' }));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(pid, signal);
  expect(await read(client)).toBeUndefined();
  expect(database.endpoint).toMatch(/^http:\/\/127\.0\.0\.1:/);
});

it('the database continues after an aborted request', async () => {
  const { database, client } = await open();
  const { hostname, port } = new URL(database.endpoint);
  const socket = connect(Number(port), hostname);
  const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/x`;
  const headers = [`Host: ${hostname}`, `Authorization: ${authorization}`, 'Content-Length: 99'];
  socket.write(`POST / HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n{`);
  await once(socket, 'ready');
  socket.destroy();
  expect(await read(client)).toBeUndefined();
  expect(await read(client)).toBeUndefined();
});
