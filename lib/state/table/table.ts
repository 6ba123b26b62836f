import { randomBytes } from 'node:crypto';
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type QueryCommandInput,
  type QueryCommandOutput,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { isExpired } from './expiry.ts';
import { ofThisForm } from './form.ts';
import type { Key } from './keys.ts';
import { createTableClock, dateOf, keepDate } from './table-clock.ts';

export type Item = Record<string, unknown>;

/**
 * A DynamoDB expression in which `#name` stands for the attribute `name` and `:value` for an entry of `values`, as in
 * `#status = :queued`. Names always have a `#`, so that none is a reserved word.
 */
export interface Expression {
  expression: string;
  values?: Item;
}

/**
 * The ids of an item's last conditional writes: the newest, and the ones before it. The SDK repeats a write whose
 * answer was lost. The condition of the repetition then fails, because the first try, or another worker since, has
 * changed the item. Other modules never see these attributes.
 */
const WRITE_ID = 'writeId';
const EARLIER_IDS = 'earlierIds';
const WRITE_ID_BYTES = 9;
/** How many earlier ids a put keeps. An update keeps only one, because it cannot shorten a list. */
const EARLIER_KEPT = 7;
const SET_WRITE_ID = `SET #${WRITE_ID} = :${WRITE_ID}, #${EARLIER_IDS} = if_not_exists(#${WRITE_ID}, :${WRITE_ID})`;
/** Keeps a repeated update from counting twice if its condition still holds. */
const NOT_WRITTEN = `NOT contains(#${WRITE_ID}, :${WRITE_ID}) AND NOT contains(#${EARLIER_IDS}, :${WRITE_ID})`;
/** For how many items a process remembers the write ids. */
const ITEMS_REMEMBERED = 200;

/**
 * The state table. It has operations on single items only, and each of them is atomic.
 *
 * A conditional write recognizes its own repetition, even if other workers have written the item since: seven puts, or
 * one update. After more writes, it returns that the condition did not hold. Callers must therefore read this result as
 * "the item is not as I wrote it", not as "I wrote nothing".
 */
export type Table = ReturnType<typeof createTable>;

/** @param ownClock this process's clock */
export function createTable(client: DynamoDBClient, tableName: string, ownClock: () => number) {
  const clock = createTableClock(ownClock);
  keepDate(client);

  /** The write ids by key. A put needs them, because it replaces the whole item. */
  const idsRead = new Map<string, string[]>();

  function rememberIds(key: Key, { [WRITE_ID]: last = '', [EARLIER_IDS]: earlier = '' }: Item): void {
    idsRead.delete(nameOf(key));
    idsRead.set(nameOf(key), `${last} ${earlier}`.trim().split(' '));
    const [oldest] = idsRead.keys();
    if (idsRead.size > ITEMS_REMEMBERED && oldest !== undefined) idsRead.delete(oldest);
  }

  /** A read in progress, whose answer brings the table's time. */
  let timing: Promise<unknown> | undefined;

  function read(key: Key): Promise<Item | undefined> {
    const reading = readNow(key).finally(() => {
      if (timing === reading) timing = undefined;
    });
    timing ??= reading;
    return reading;
  }

  async function readNow(key: Key): Promise<Item | undefined> {
    const sentAt = ownClock();
    const { Item, $metadata } = await client.send(
      new GetItemCommand({ TableName: tableName, Key: marshall(key), ConsistentRead: true }),
    );
    clock.learn(dateOf($metadata), sentAt);
    if (Item) rememberIds(key, plain(Item));
    return Item && asItem(Item);
  }

  /** @param from the key of the last item before the page */
  async function query(input: Partial<QueryCommandInput>, from: Attributes | undefined): Promise<QueryCommandOutput> {
    const sentAt = ownClock();
    const page = await client.send(new QueryCommand({ TableName: tableName, ...input, ExclusiveStartKey: from }));
    clock.learn(dateOf(page.$metadata), sentAt);
    return page;
  }

  /** Yields all pages of a query, one after the other. */
  async function* pages(input: Partial<QueryCommandInput>): AsyncGenerator<QueryCommandOutput> {
    let from: Attributes | undefined;
    do {
      const page = await query(input, from);
      yield page;
      from = page.LastEvaluatedKey;
    } while (from);
  }

  /** Returns the item if the write with this id was one of its last conditional writes. */
  async function readWritten(key: Key, writeId = ''): Promise<Item | undefined> {
    const item = await read(key);
    return idsRead.get(nameOf(key))?.includes(writeId) ? item : undefined;
  }

  return {
    clock,
    /** Reads an item if {@link clock} is unknown, because this process has read nothing from the table yet. */
    async ensureTime(key: Key): Promise<void> {
      if (clock.isKnown()) return;
      await (timing ?? read(key));
    },
    /** Reads an item consistently. Includes an expired item that DynamoDB has not removed yet. */
    getEvenExpired: read,
    /** Reads an item consistently. @returns undefined for an expired item, which DynamoDB may keep for days */
    async get(key: Key): Promise<Item | undefined> {
      const item = await read(key);
      return item && !isExpired(item, clock.now()) ? item : undefined;
    },
    /** Writes a whole item. @returns false if the condition did not hold */
    async put(item: Key & Item, condition?: Expression): Promise<boolean> {
      const writeId = condition && newWriteId();
      const earlier = (condition && idsRead.get(nameOf(item))?.slice(0, EARLIER_KEPT).join(' ')) || undefined;
      const written = await unlessConditionFails(
        client.send(
          new PutItemCommand({
            TableName: tableName,
            Item: marshall({ ...item, ...ofThisForm, [WRITE_ID]: writeId, [EARLIER_IDS]: earlier }, MARSHALLING),
            ...onlyIf(condition),
          }),
        ),
        async () => (await readWritten({ pk: item.pk, sk: item.sk }, writeId)) && true,
      );
      return written !== undefined;
    },
    /**
     * Changes attributes, and creates the item if necessary.
     * @returns the new item, or undefined if the condition did not hold
     */
    async update(key: Key, change: Expression, condition?: Expression): Promise<Item | undefined> {
      const writeId = condition && newWriteId();
      // The update may have no SET of its own.
      const setsId = change.expression.includes('SET ')
        ? change.expression.replace('SET ', `${SET_WRITE_ID}, `)
        : `${change.expression} ${SET_WRITE_ID}`;
      const expression = writeId ? setsId : change.expression;
      const unlessRepeated = condition && `(${condition.expression}) AND ${NOT_WRITTEN}`;
      const both = {
        expression: `${expression} ${unlessRepeated ?? ''}`,
        values: { ...change.values, ...condition?.values, ...(writeId && { [WRITE_ID]: writeId }) },
      };
      return unlessConditionFails(
        client
          .send(
            new UpdateItemCommand({
              TableName: tableName,
              Key: marshall(key),
              UpdateExpression: expression,
              ConditionExpression: unlessRepeated,
              ...placeholders(both),
              ReturnValues: 'ALL_NEW',
            }),
          )
          .then(({ Attributes = {} }) => asItem(Attributes)),
        () => readWritten(key, writeId),
      );
    },
    /**
     * Deletes an item. @returns false if the condition did not hold and the item is still there, or was not there
     * before
     */
    async delete(key: Key, condition?: Expression): Promise<boolean> {
      const deleted = await unlessConditionFails(
        client.send(
          new DeleteItemCommand({
            TableName: tableName,
            Key: marshall(key),
            ...onlyIf(condition),
          }),
        ),
        async () => ((await read(key)) ? undefined : true),
      );
      return deleted !== undefined;
    },
    /** Returns all items of one partition, read consistently, in the order of their sort keys. */
    async partition(pk: string): Promise<Item[]> {
      const items: Item[] = [];
      const input = { ...where({ expression: '#pk = :pk', values: { pk } }), ConsistentRead: true };
      for await (const { Items = [] } of pages(input)) items.push(...Items.map(asItem));
      return items;
    },
    /**
     * Returns one page of an index, which may lag behind the table. `last` has the key attributes of the page's last
     * item, if more items may follow.
     * @param options.after the key attributes, of the table and the index, of the last item before the page
     */
    async indexPage(
      index: string,
      condition: Expression,
      { limit, newestFirst, after }: { limit: number; newestFirst: boolean; after?: Item | undefined },
    ): Promise<{ items: Item[]; last?: Item }> {
      const input = { ...where(condition), IndexName: index, Limit: limit, ScanIndexForward: !newestFirst };
      const from = after && marshall(after, { allowImpreciseNumbers: true });
      const { Items = [], LastEvaluatedKey: last } = await query(input, from);
      return { items: Items.map(asItem), last: last && plain(last) };
    },
    /** Counts the items of an index that meet a condition. @param most where to stop counting */
    async countIndex(index: string, condition: Expression, most: number): Promise<number> {
      let count = 0;
      for await (const { Count = 0 } of pages({
        ...where(condition),
        IndexName: index,
        Select: 'COUNT',
        Limit: most,
      })) {
        count += Count;
        if (count >= most) return most;
      }
      return count;
    },
    /** Yields the items of an index, which may lag behind the table, page by page. Ascending by default. */
    async *indexPages(
      index: string,
      condition: Expression,
      pageSize: number,
      newestFirst = false,
    ): AsyncGenerator<Item[], void> {
      const input = { ...where(condition), IndexName: index, Limit: pageSize, ScanIndexForward: !newestFirst };
      for await (const { Items = [] } of pages(input)) yield Items.map(asItem);
    },
  };
}

type Attributes = Record<string, AttributeValue>;

const where = (condition: Expression) => ({
  KeyConditionExpression: condition.expression,
  ...placeholders(condition),
});

const onlyIf = (condition: Expression | undefined) =>
  condition && { ConditionExpression: condition.expression, ...placeholders(condition) };

function placeholders({ expression, values = {} }: Expression) {
  const names = [...expression.matchAll(/#(\w+)/g)].map(([placeholder, name]) => [placeholder, name]);
  const named: [string, unknown][] = Object.entries(values).map(([name, value]) => [`:${name}`, value]);
  return {
    ...(names.length > 0 && { ExpressionAttributeNames: Object.fromEntries(names) }),
    ...(named.length > 0 && {
      ExpressionAttributeValues: marshall(Object.fromEntries(named), MARSHALLING),
    }),
  };
}

/**
 * Awaits a conditional write.
 * @param repeated returns the result if the SDK sent the write more than once and an earlier try wrote the item
 * @returns undefined if the condition did not hold
 */
async function unlessConditionFails<T, R>(
  write: Promise<T>,
  repeated: () => Promise<R | undefined>,
): Promise<T | R | undefined> {
  try {
    return await write;
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return (error.$metadata.attempts ?? 1) > 1 ? repeated() : undefined;
  }
}

const newWriteId = () => randomBytes(WRITE_ID_BYTES).toString('base64url');

const nameOf = ({ pk, sk }: Key) => `${pk} ${sk}`;

function asItem(attributes: Attributes): Item {
  const { [WRITE_ID]: _, [EARLIER_IDS]: __, ...item } = plain(attributes);
  return item;
}

/** Lets an unreadable item be written back with its own values. */
const MARSHALLING = { removeUndefinedValues: true, allowImpreciseNumbers: true };

/** Rounds a number that a double cannot hold exactly. The relay does not write such numbers. */
const plain = (attributes: Attributes): Item => unmarshall(attributes, { wrapNumbers: Number });

/** Returns the update that sets each field with a value, and removes others. */
export function setFields(fields: Readonly<Item>, remove: readonly string[] = []): Expression {
  const values = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  const set = `SET ${Object.keys(values).map((name) => `#${name} = :${name}`)}`;
  return { expression: remove.length > 0 ? `${set} REMOVE ${remove.map((name) => `#${name}`)}` : set, values };
}
