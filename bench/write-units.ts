import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { startGithubApi } from '../test/github-api.ts';
import { issueEvent } from '../test/issue-events.ts';
import { exampleConfig, startRelay } from '../test/relay.ts';

/**
 * `npm run bench:units` counts what DynamoDB would charge for one issue, from its delivery to its defect and comment.
 * It counts every write itself, from the item before and after, because the embedded DynamoDB does not report the cost
 * of indexes.
 */
const BODY_BYTES = [200, 2_000, 10_000, 30_000];

type Attribute = Record<string, unknown>;
type StoredItem = Record<string, Attribute>;
/** The fields of a DynamoDB response that the count needs. */
interface Answer {
  Item?: StoredItem;
  ConsumedCapacity?: { CapacityUnits: number };
  Table?: { GlobalSecondaryIndexes?: { KeySchema: { AttributeName: string }[] }[] };
}
/** Attributes by which an index finds its entries. */
type IndexKeys = readonly string[];

interface Counted {
  writes: number;
  /** Write units by the kind of the item: `job`, `link`, and of the indexes `job (index)`. */
  units: Map<string, number>;
  readUnits: number;
}

/** A proxy in front of DynamoDB that counts requests. */
async function startMeter(endpoint: string) {
  const counted: Counted = { writes: 0, units: new Map(), readUnits: 0 };
  let indexes: IndexKeys[] | undefined;

  async function ask(action: string, body: object, headers: IncomingMessage['headers']) {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `DynamoDB_20120810.${action}`,
        authorization: headers.authorization ?? '',
        'x-amz-date': String(headers['x-amz-date'] ?? ''),
      },
      body: JSON.stringify(body),
    });
    return { status: response.status, answer: (await response.json()) as Answer };
  }

  async function indexesOf(TableName: string, headers: IncomingMessage['headers']): Promise<IndexKeys[]> {
    const { answer } = await ask('DescribeTable', { TableName }, headers);
    const indexes = answer.Table?.GlobalSecondaryIndexes ?? [];
    return indexes.map(({ KeySchema }) => KeySchema.map((part) => part.AttributeName));
  }

  const server = createServer(async (request, response) => {
    const action = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    const body = JSON.parse((await buffer(request)).toString());
    const { TableName } = body;
    const read = (key: object) => ask('GetItem', { TableName, Key: key, ConsistentRead: true }, request.headers);
    const isWrite = ['PutItem', 'UpdateItem', 'DeleteItem'].includes(action);
    const key = isWrite ? keyOf(body) : undefined;
    const before: StoredItem | undefined = key && (await read(key)).answer.Item;
    const { status, answer } = await ask(action, { ...body, ReturnConsumedCapacity: 'TOTAL' }, request.headers);
    if (key && status === 200) {
      indexes ??= await indexesOf(TableName, request.headers);
      count(before, (await read(key)).answer.Item, indexes);
    } else {
      counted.readUnits += answer.ConsumedCapacity?.CapacityUnits ?? 0;
    }
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(answer));
  });

  /** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations.Writes */
  function count(before: StoredItem | undefined, after: StoredItem | undefined, indexes: readonly IndexKeys[]): void {
    const kind = String((after ?? before)?.pk?.S).split('#', 1)[0] ?? '';
    counted.writes += 1;
    add(kind, Math.max(unitsOf(before), unitsOf(after), 1));
    for (const keys of indexes) {
      const [from, to] = [before, after].map((item) => item && entryKey(item, keys));
      if (from === to && JSON.stringify(before) === JSON.stringify(after)) continue;
      if (from !== undefined && from === to) add(`${kind} (index)`, Math.max(unitsOf(before), unitsOf(after)));
      else {
        if (from !== undefined) add(`${kind} (index)`, unitsOf(before));
        if (to !== undefined) add(`${kind} (index)`, unitsOf(after));
      }
    }
  }
  const add = (kind: string, units: number) => counted.units.set(kind, (counted.units.get(kind) ?? 0) + units);

  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counted,
    close: () => void server.close().closeAllConnections(),
  };
}

function keyOf({ Key, Item }: { Key?: StoredItem; Item?: StoredItem }): StoredItem {
  const { pk, sk } = Key ?? Item ?? {};
  if (!pk || !sk) throw new Error('a write without its key');
  return { pk, sk };
}

/** The item's key in an index, or undefined if the index does not have the item. */
function entryKey(item: StoredItem, keys: IndexKeys): string | undefined {
  const values = keys.map((key) => item[key]);
  return values.includes(undefined) ? undefined : JSON.stringify(values);
}

/** Units of 1 KB, rounded up. The size of an item is about that of its names and values as text. */
function unitsOf(item: StoredItem | undefined): number {
  if (!item) return 0;
  const bytes = Object.entries(item).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + sizeOf(value), 0);
  return Math.ceil(bytes / 1024);
}

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html */
function sizeOf(attribute: Attribute): number {
  const [[type, value] = []] = Object.entries(attribute);
  if (type === 'S') return Buffer.byteLength(String(value));
  if (type === 'B') return Buffer.from(String(value), 'base64').byteLength;
  if (type === 'N') return Math.ceil(String(value).length / 2) + 1;
  if (type === 'L') return 3 + (value as Attribute[]).reduce((sum, one) => sum + 1 + sizeOf(one), 0);
  if (type === 'M') {
    const entries = Object.entries(value as Record<string, Attribute>);
    return 3 + entries.reduce((sum, [name, one]) => sum + 1 + Buffer.byteLength(name) + sizeOf(one), 0);
  }
  return 1;
}

async function measure(bodyBytes: number): Promise<Counted> {
  const github = await startGithubApi(Date.now);
  const config = exampleConfig({}, { apiUrl: github.url });
  const relay = await startRelay({ config, github: { token: 'ghp_bench' } });
  const meter = await startMeter(relay.stack.variables.AWS_ENDPOINT_URL_DYNAMODB);
  // The SDK reads the endpoint at a client's first request.
  process.env.AWS_ENDPOINT_URL_DYNAMODB = meter.url;
  const body = prose().slice(0, bodyBytes);
  await relay.post('issues', issueEvent('opened', { body }));
  await relay.workToTheEnd();
  meter.close();
  await Promise.all([relay.close(), github.close()]);
  return meter.counted;
}

/** Realistic text, because a link stores it deflated: the text of these documents without non-ASCII characters. */
function prose(): string {
  const folder = new URL('../docs/', import.meta.url);
  const files = readdirSync(folder).filter((name) => name.endsWith('.md'));
  return files.map((name) => readFileSync(new URL(name, folder), 'utf8').replace(/[^\n -~]/g, '')).join('\n');
}

for (const bodyBytes of BODY_BYTES) {
  const { writes, units, readUnits } = await measure(bodyBytes);
  const sum = [...units.values()].reduce((a, b) => a + b, 0);
  const parts = [...units].map(([kind, count]) => `${kind} ${count}`).join(', ');
  console.log(`body of ${bodyBytes} bytes: ${writes} writes, ${sum} write units (${parts}), ${readUnits} read units`);
}
