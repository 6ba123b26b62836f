import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type QueryCommandOutput,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { isExpired } from './expiry.ts';
import type { Key } from './keys.ts';

export type Item = Record<string, unknown>;

/**
 * A DynamoDB expression in which `#name` stands for the attribute `name` and `:value` for an entry of `values`, as in
 * `#status = :queued`. Names are always written with `#`, so that no reserved word is ever met.
 */
export interface Expression {
  expression: string;
  values?: Item;
}

/** Some items of an index, and the key attributes of the last one if more may follow. */
export interface IndexPage {
  items: Item[];
  last?: Item;
}

/** The state table: single-item operations only, each atomic on its own. */
export interface Table {
  /** Reads consistently. @returns undefined for an expired item, which DynamoDB may keep for days */
  get(key: Key): Promise<Item | undefined>;
  /** The same, but returns an expired item that DynamoDB has not removed yet. */
  getEvenExpired(key: Key): Promise<Item | undefined>;
  /** Writes a whole item. @returns false where the condition did not hold */
  put(item: Key & Item, condition?: Expression): Promise<boolean>;
  /** Changes attributes, creating the item if need be. @returns the new item, or undefined where the condition did not hold */
  update(key: Key, change: Expression, condition?: Expression): Promise<Item | undefined>;
  /** @returns false where the condition did not hold */
  delete(key: Key, condition?: Expression): Promise<boolean>;
  /** All items of one partition, read consistently, in order of their sort keys. */
  partition(pk: string): Promise<Item[]>;
  /** The last items of a partition, read consistently, from the last on. */
  lastOf(pk: string, limit: number): Promise<Item[]>;
  /**
   * One page of an index, which may lag behind the table.
   * @param options.after the key attributes, of the table and the index, of the item before the page
   */
  indexPage(
    index: string,
    condition: Expression,
    options: { limit: number; newestFirst: boolean; after?: Item },
  ): Promise<IndexPage>;
  /** How many items of an index meet the condition. @param most where to stop counting */
  countIndex(index: string, condition: Expression, most: number): Promise<number>;
  /** All items of an index, which may lag behind the table, page by page. */
  indexPages(index: string, condition: Expression, pageSize: number): AsyncIterable<Item[]>;
  /** Up to `limit` items of an index, which may lag behind the table. */
  queryIndex(index: string, condition: Expression, options: { limit: number; newestFirst: boolean }): Promise<Item[]>;
}

export function createTable(client: DynamoDBClient, tableName: string, clock: () => number): Table {
  async function getEvenExpired(key: Key): Promise<Item | undefined> {
    const { Item } = await client.send(
      new GetItemCommand({ TableName: tableName, Key: marshall(key), ConsistentRead: true }),
    );
    return Item && unmarshall(Item);
  }

  const indexPage: Table['indexPage'] = async (index, condition, { limit, newestFirst, after }) => {
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand({
        TableName: tableName,
        IndexName: index,
        KeyConditionExpression: condition.expression,
        ...placeholders(condition),
        Limit: limit,
        ScanIndexForward: !newestFirst,
        ...(after && { ExclusiveStartKey: marshall(after) }),
      }),
    );
    return {
      items: Items.map((item) => unmarshall(item)),
      ...(LastEvaluatedKey && { last: unmarshall(LastEvaluatedKey) }),
    };
  };

  return {
    getEvenExpired,
    async get(key) {
      const item = await getEvenExpired(key);
      return item && !isExpired(item, clock()) ? item : undefined;
    },
    async put(item, condition) {
      const written = await unlessConditionFails(
        client.send(
          new PutItemCommand({
            TableName: tableName,
            Item: marshall(item, { removeUndefinedValues: true }),
            ...(condition && { ConditionExpression: condition.expression, ...placeholders(condition) }),
          }),
        ),
      );
      return written !== undefined;
    },
    async update(key, change, condition) {
      const both = {
        expression: `${change.expression} ${condition?.expression ?? ''}`,
        values: { ...change.values, ...condition?.values },
      };
      const updated = await unlessConditionFails(
        client.send(
          new UpdateItemCommand({
            TableName: tableName,
            Key: marshall(key),
            UpdateExpression: change.expression,
            ...(condition && { ConditionExpression: condition.expression }),
            ...placeholders(both),
            ReturnValues: 'ALL_NEW',
          }),
        ),
      );
      return updated && unmarshall(updated.Attributes ?? {});
    },
    async delete(key, condition) {
      const deleted = await unlessConditionFails(
        client.send(
          new DeleteItemCommand({
            TableName: tableName,
            Key: marshall(key),
            ...(condition && { ConditionExpression: condition.expression, ...placeholders(condition) }),
          }),
        ),
      );
      return deleted !== undefined;
    },
    async partition(pk) {
      const items: Item[] = [];
      let from: QueryCommandOutput['LastEvaluatedKey'];
      do {
        const page: QueryCommandOutput = await client.send(
          new QueryCommand({
            TableName: tableName,
            KeyConditionExpression: '#pk = :pk',
            ...placeholders({ expression: '#pk', values: { pk } }),
            ConsistentRead: true,
            ...(from && { ExclusiveStartKey: from }),
          }),
        );
        items.push(...(page.Items ?? []).map((item) => unmarshall(item)));
        from = page.LastEvaluatedKey;
      } while (from);
      return items;
    },
    async lastOf(pk, limit) {
      const { Items = [] } = await client.send(
        new QueryCommand({
          TableName: tableName,
          KeyConditionExpression: '#pk = :pk',
          ...placeholders({ expression: '#pk', values: { pk } }),
          ConsistentRead: true,
          ScanIndexForward: false,
          Limit: limit,
        }),
      );
      return Items.map((item) => unmarshall(item));
    },
    indexPage,
    async countIndex(index, condition, most) {
      let count = 0;
      let from: QueryCommandOutput['LastEvaluatedKey'];
      do {
        const page: QueryCommandOutput = await client.send(
          new QueryCommand({
            TableName: tableName,
            IndexName: index,
            KeyConditionExpression: condition.expression,
            ...placeholders(condition),
            Select: 'COUNT',
            Limit: most - count,
            ...(from && { ExclusiveStartKey: from }),
          }),
        );
        count += page.Count ?? 0;
        from = page.LastEvaluatedKey;
      } while (from && count < most);
      return count;
    },
    async *indexPages(index, condition, pageSize) {
      yield* readIndex(index, condition, pageSize, true);
    },
    async queryIndex(index, condition, { limit, newestFirst }) {
      const items: Item[] = [];
      for await (const page of readIndex(index, condition, limit, !newestFirst)) {
        items.push(...page);
        if (items.length >= limit) break;
      }
      return items.slice(0, limit);
    },
  };

  async function* readIndex(
    index: string,
    condition: Expression,
    pageSize: number,
    ascending: boolean,
  ): AsyncGenerator<Item[]> {
    let after: Item | undefined;
    do {
      const page = await indexPage(index, condition, {
        ...{ limit: pageSize, newestFirst: !ascending },
        ...(after && { after }),
      });
      yield page.items;
      after = page.last;
    } while (after);
  }
}

function placeholders({ expression, values = {} }: Expression) {
  const names = [...expression.matchAll(/#(\w+)/g)].map(([placeholder, name]) => [placeholder, name]);
  const named = Object.entries(values).map(([name, value]) => [`:${name}`, value]);
  return {
    ...(names.length > 0 && { ExpressionAttributeNames: Object.fromEntries(names) }),
    ...(named.length > 0 && {
      ExpressionAttributeValues: marshall(Object.fromEntries(named), { removeUndefinedValues: true }),
    }),
  };
}

async function unlessConditionFails<T>(write: Promise<T>): Promise<T | undefined> {
  try {
    return await write;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined;
    throw error;
  }
}
