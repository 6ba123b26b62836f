import { isDeepStrictEqual } from 'node:util';
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type QueryCommandInput,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { jobsByStatus, waitingLine } from '../../lib/state/table/keys.ts';
import { DynamoDbModel } from '../../local/world/dynamodb-model.ts';
import { orderBy } from '../../local/world/index-model.ts';
import type { TableServer } from '../state/table-server.ts';

const indexes = [jobsByStatus, waitingLine];
/** Every command uses the server's table. */
const TABLE = 'tested';

const value = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom('a', 'b', ''));
const texts = fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { minLength: 1 }).map((all) => new Set(all));
/** Attributes that are keys of an index have only one type. */
const attributes = fc.record(
  {
    status: fc.constantFrom('queued', 'waiting'),
    wakeAt: fc.integer({ min: 0, max: 5 }),
    line: fc.constantFrom('main#background', 'main#interactive'),
    createdAt: fc.integer({ min: 0, max: 5 }),
    generation: value,
    entity: value,
    lease: fc.record({ owner: value, until: fc.integer({ min: 0, max: 3 }) }),
    ids: texts,
  },
  { requiredKeys: [] },
);
const partitions = ['job#1', 'job#2', 'budget#main'];
const sorts = ['job', 'step#a'];
const key = fc.record({ pk: fc.constantFrom(...partitions), sk: fc.constantFrom(...sorts) });

const path = fc.constantFrom('#status', '#wakeAt', '#generation', '#entity', '#lease.#owner', '#lease.#until', '#pk');
const test = fc.oneof(
  fc
    .tuple(path, fc.constantFrom('=', '<>', '<', '<=', '>', '>='), fc.constantFrom(':v', ':w'))
    .map((it) => it.join(' ')),
  fc.tuple(fc.constantFrom('attribute_exists', 'attribute_not_exists'), path).map(([asks, of]) => `${asks}(${of})`),
  fc.constantFrom('contains(#ids, :a)', 'size(#ids) < :n', 'size(#ids) = :n'),
);
const condition = fc.oneof(
  test,
  fc.tuple(test, fc.constantFrom('AND', 'OR'), test, fc.constantFrom('AND', 'OR'), test).map((it) => it.join(' ')),
  fc.tuple(test, test, test).map(([a, b, c]) => `(${a} OR ${b}) AND ${c}`),
);
/** An update. Each attribute is in at most one clause. */
const update = fc
  .record({
    set: fc.subarray(['#status = :status', '#wakeAt = :n', '#entity = :v', '#generation = :n + :n']),
    add: fc.boolean(),
    ids: fc.constantFrom('', 'ADD #ids :ids', 'DELETE #ids :ids'),
    remove: fc.subarray(['#line', '#lease', '#createdAt']),
  })
  .map(({ set, add, ids, remove }) =>
    [
      set.length > 0 ? `SET ${set.join(', ')}` : '',
      remove.length > 0 ? `REMOVE ${remove.join(', ')}` : '',
      // One clause of a kind, because an addition to a number would also be an addition to the set.
      ids || (add ? 'ADD #updates :n' : ''),
    ]
      .join(' ')
      .trim(),
  )
  .filter((expression) => expression !== '');
const PART = 'SET #lease.#until = :n';
const values = fc.record({
  v: value,
  w: value,
  n: fc.integer({ min: 0, max: 3 }),
  m: fc.integer({ min: 3, max: 5 }),
  pk: fc.constantFrom(...partitions),
  line: fc.constant('main#background'),
  status: fc.constantFrom('queued', 'running'),
  a: fc.constantFrom('a', 'b'),
  ids: texts,
});

/** Exactly the placeholders of an expression, because DynamoDB refuses unused ones. */
function placeholders(expression: string, given: Record<string, unknown>) {
  const used = [...expression.matchAll(/#(\w+)/g)].map(([placeholder, name]) => [placeholder, name]);
  const taken = Object.entries(given).filter(([name]) => new RegExp(`:${name}\\b`).test(expression));
  return {
    ...(used.length > 0 && { ExpressionAttributeNames: Object.fromEntries(used) }),
    ...(taken.length > 0 && {
      ExpressionAttributeValues: marshall(Object.fromEntries(taken.map(([name, value]) => [`:${name}`, value]))),
    }),
  };
}

const write = fc
  .record({
    what: fc.constantFrom('put', 'delete', 'update'),
    key,
    attributes,
    change: fc.oneof({ weight: 3, arbitrary: update }, { weight: 1, arbitrary: fc.constant(PART) }),
    condition: fc.option(condition, { nil: undefined, freq: 2 }),
    values,
  })
  .map(({ what, key, attributes, change, condition, values }) => {
    const ofUpdate = what === 'update' ? change : '';
    // A part of a missing attribute cannot be set.
    const only = ofUpdate === PART ? 'attribute_exists(#lease)' : condition;
    const request = { TableName: TABLE, ConditionExpression: only, ...placeholders(`${ofUpdate} ${only}`, values) };
    if (what === 'put') return new PutItemCommand({ ...request, Item: marshall({ ...key, ...attributes }) });
    if (what === 'delete') return new DeleteItemCommand({ ...request, Key: marshall(key) });
    return new UpdateItemCommand({
      ...request,
      Key: marshall(key),
      UpdateExpression: change,
      ReturnValues: 'ALL_NEW',
    });
  });
const query = fc
  .record({
    asked: fc.constantFrom<Partial<QueryCommandInput>>(
      { KeyConditionExpression: '#pk = :pk', ConsistentRead: true, Limit: 2 },
      { KeyConditionExpression: '#status = :status AND #wakeAt <= :n', IndexName: jobsByStatus.name },
      { KeyConditionExpression: '#status = :status AND #wakeAt BETWEEN :n AND :m', IndexName: jobsByStatus.name },
      { KeyConditionExpression: '#line = :line', IndexName: waitingLine.name },
    ),
    isForward: fc.boolean(),
    values,
  })
  .map(({ asked, isForward, values }) => {
    const given = placeholders(asked.KeyConditionExpression ?? '', values);
    return new QueryCommand({ TableName: TABLE, ...asked, ...given, ScanIndexForward: isForward });
  });
const read = fc.oneof(
  key.map((key) => new GetItemCommand({ TableName: TABLE, Key: marshall(key), ConsistentRead: true })),
  query,
);
const command = fc.oneof({ weight: 3, arbitrary: write }, { weight: 1, arbitrary: read });

/** A table's answer to a command, in a comparable form. Entries of an index with the same sort key have no order. */
async function said(command: { input: object }, answer: () => Promise<object> | object): Promise<unknown> {
  try {
    const { Item, Items, Attributes } = (await answer()) as {
      Item?: Item;
      Items?: Item[];
      Attributes?: Item;
    };
    const byIndex = indexes.find(({ name }) => 'IndexName' in command.input && command.input.IndexName === name);
    const items = Items?.map(withSortedSets);
    return {
      Item: Item && withSortedSets(Item),
      Items: byIndex && items ? inRuns(items, byIndex.sort) : items,
      Attributes: Attributes && withSortedSets(Attributes),
    };
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return 'the condition did not hold';
    throw error;
  }
}
type Item = Record<string, AttributeValue>;

/** Sorts sets, because they have no order. */
const withSortedSets = (item: Item): Item =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => [name, value.SS ? { SS: value.SS.toSorted() } : value]),
  );

/** Groups the entries by sort key, each group in the order of the table's key. */
function inRuns(entries: readonly Item[], sortKey: string): Item[][] {
  const runs: Item[][] = [];
  for (const entry of entries) {
    const run = runs.at(-1);
    if (run && isDeepStrictEqual(run[0]?.[sortKey], entry[sortKey])) run.push(entry);
    else runs.push([entry]);
  }
  return runs.map((run) => run.sort((a, b) => orderBy(['pk', 'sk'], a, b)));
}

/** A server must answer as the simulation's model does. */
export function modelStatements(startServer: () => Promise<TableServer>): void {
  let server: TableServer;
  let client: DynamoDBClient;
  beforeAll(async () => {
    server = await startServer();
    client = new DynamoDBClient({ endpoint: server.endpoint });
  });
  afterAll(() => server.close());

  it('the model of DynamoDB gives the same answers', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 30 }), async (commands) => {
        const model = new DynamoDbModel(indexes, (_key, apply) => apply());
        try {
          for (const one of commands) {
            const ours = await said(one, () => model.answer(one));
            const theirs = await said(one, () => client.send(one as never));
            expect(ours, JSON.stringify(one.input)).toEqual(theirs);
          }
        } finally {
          const keys = partitions.flatMap((pk) => sorts.map((sk) => ({ pk, sk })));
          for (const key of keys) await client.send(new DeleteItemCommand({ TableName: TABLE, Key: marshall(key) }));
        }
      }),
      { numRuns: 60 },
    );
  });

  const item = marshall({ pk: 'job#1', sk: 'job' });
  const removal = { TableName: TABLE, Key: item, ConditionExpression: 'attribute_not_exists(#pk)' };
  const [names, unused] = [{ '#pk': 'pk' }, marshall({ ':unused': 1 })];
  it.each([
    ['400 KB', new PutItemCommand({ TableName: TABLE, Item: { ...item, text: { S: 'x'.repeat(409_600) } } })],
    ['a name', new DeleteItemCommand({ ...removal, ExpressionAttributeNames: { ...names, '#unused': 'pk' } })],
    [
      'a value',
      new DeleteItemCommand({ ...removal, ExpressionAttributeNames: names, ExpressionAttributeValues: unused }),
    ],
  ])('the model of DynamoDB refuses the same: %s too much', async (_, command) => {
    const model = new DynamoDbModel(indexes, (_key, apply) => apply());
    expect(() => model.answer(command)).toThrow(expect.objectContaining({ name: 'ValidationException' }));
    await expect(client.send(command as never)).rejects.toMatchObject({ name: 'ValidationException' });
  });
}
