import { isDeepStrictEqual } from 'node:util';
import {
  type AttributeValue,
  BatchWriteItemCommand,
  type BatchWriteItemCommandInput,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  DescribeTableCommand,
  DynamoDBServiceException,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type QueryCommandInput,
  ScanCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { Key } from '../../lib/state/table/keys.ts';
import type { Item } from '../../lib/state/table/table.ts';
import { type Attributes, type Placeholders, parseCondition, parseUpdate, placeholdersIn } from './expressions.ts';
import { type IndexDefinition, IndexModel, orderBy } from './index-model.ts';
import { readUnits, sizeOf, writeUnits } from './sizes.ts';

/** The cost of requests. */
export interface Units {
  /** Writes of the table, including those whose condition failed. */
  write: number;
  /** The writes whose condition failed. */
  failed: number;
  /** Writes of the indexes. */
  indexWrite: number;
  read: number;
  largestItemBytes: number;
}

/** The size limit of one page of a query (Query, API reference). */
const MOST_IN_PAGE_BYTES = 1_048_576;

/** The size limit of an item. */
const MOST_IN_ITEM_BYTES = 409_600;

/** One DynamoDB table in memory, with keys named `pk` and `sk`, and with indexes that lag behind. */
export class DynamoDbModel {
  /** By the beginning of the partition key: `budget` of `budget#main`. */
  readonly units = new Map<string, Units>();
  readonly #partitions = new Map<string, Map<string, Attributes>>();
  /** When the table was created. */
  #createdAt = new Date(0);
  readonly #indexes: Map<string, IndexModel>;
  readonly #propagate: (key: string, apply: () => void) => void;

  /** @param propagate carries out an index write later; the writes of one key keep their order */
  constructor(indexes: readonly IndexDefinition[], propagate: (key: string, apply: () => void) => void) {
    this.#indexes = new Map(indexes.map((definition) => [definition.name, new IndexModel(definition)]));
    this.#propagate = propagate;
  }

  /** Answers a command. @throws {ConditionalCheckFailedException | DynamoDBServiceException} */
  answer(command: { input: object }): object {
    refuseUnused(command.input);
    if (command instanceof GetItemCommand) return this.#get(command.input.Key ?? {});
    if (command instanceof QueryCommand) return this.#query(command.input);
    if (command instanceof PutItemCommand) {
      const { Item: item = {} } = command.input;
      this.#write(item, command.input, () => item);
      return {};
    }
    if (command instanceof UpdateItemCommand) {
      const { Key: key = {}, UpdateExpression: expression = '' } = command.input;
      const given = placeholdersOf(command.input);
      const item = this.#write(key, command.input, (last) => {
        const next: Record<string, AttributeValue> = { ...(last ?? key) };
        parseUpdate(expression)(last ?? key, next, given);
        return next;
      });
      return { Attributes: item };
    }
    if (command instanceof DeleteItemCommand) {
      this.#write(command.input.Key ?? {}, command.input, () => undefined);
      return {};
    }
    if (command instanceof BatchWriteItemCommand) return this.#batch(command.input);
    if (command instanceof ScanCommand) return this.#scan();
    if (command instanceof DescribeTableCommand)
      return { Table: { TableStatus: 'ACTIVE', CreationDateTime: this.#createdAt } };
    throw new TypeError(`the model of DynamoDB does not know ${command.constructor.name}`);
  }

  *items(): Iterable<Attributes> {
    for (const partition of this.#partitions.values()) yield* partition.values();
  }

  /** Replaces the table with a new one that has these items. @param at when it was created; epoch milliseconds */
  replace(items: readonly Attributes[], at: number): void {
    this.#partitions.clear();
    for (const { definition } of this.#indexes.values()) this.#indexes.set(definition.name, new IndexModel(definition));
    this.#createdAt = new Date(at);
    for (const item of items) this.#write(item, {}, () => item);
  }

  /** Reads an item as it is now, at no cost. */
  read({ pk, sk }: Key): Item | undefined {
    const item = this.#partitions.get(pk)?.get(sk);
    return item && unmarshall(item, { wrapNumbers: Number });
  }

  #batch({ RequestItems: requests = {} }: BatchWriteItemCommandInput): object {
    for (const { PutRequest: put } of Object.values(requests).flat()) this.#write(put?.Item ?? {}, {}, () => put?.Item);
    return {};
  }

  /** Returns all items in one page. */
  #scan(): object {
    const items = [...this.items()];
    return { Items: items, Count: items.length };
  }

  #get(key: Attributes): object {
    const item = this.#partitions.get(textOf(key.pk))?.get(textOf(key.sk));
    this.#unitsOf(key).read += readUnits(sizeOf(item), true);
    return item ? { Item: item } : {};
  }

  #write(
    key: Attributes,
    request: ConditionalRequest,
    change: (last: Attributes | undefined) => Attributes | undefined,
  ): Attributes | undefined {
    const [pk, sk] = [textOf(key.pk), textOf(key.sk)];
    const last = this.#partitions.get(pk)?.get(sk);
    const units = this.#unitsOf(key);
    const { ConditionExpression: condition } = request;
    if (condition !== undefined && !parseCondition(condition)(last ?? {}, placeholdersOf(request))) {
      const spent = writeUnits(sizeOf(last));
      units.write += spent;
      units.failed += spent;
      throw new ConditionalCheckFailedException({ message: 'The conditional request failed', $metadata: {} });
    }
    const next = change(last);
    const bytes = sizeOf(next);
    if (bytes > MOST_IN_ITEM_BYTES) throw invalid('Item size has exceeded the maximum allowed size');
    units.write += writeUnits(Math.max(bytes, sizeOf(last)));
    units.largestItemBytes = Math.max(units.largestItemBytes, bytes);
    this.#keep(pk, sk, next);
    for (const index of this.#indexes.values()) this.#writeIndex(index, `${pk} ${sk}`, last, next, units);
    return next;
  }

  #keep(pk: string, sk: string, item: Attributes | undefined): void {
    const partition = this.#partitions.get(pk) ?? new Map<string, Attributes>();
    if (item) partition.set(sk, item);
    else partition.delete(sk);
    if (partition.size > 0) this.#partitions.set(pk, partition);
    else this.#partitions.delete(pk);
  }

  #writeIndex(
    index: IndexModel,
    key: string,
    last: Attributes | undefined,
    next: Attributes | undefined,
    units: Units,
  ): void {
    const [before, after] = [index.entryOf(last), index.entryOf(next)];
    if (isDeepStrictEqual(before, after)) return;
    const { partition, sort } = index.definition;
    const moved = before && after && [partition, sort].some((name) => !isDeepStrictEqual(before[name], after[name]));
    // An entry that moves is one deletion and one write.
    units.indexWrite += moved
      ? writeUnits(sizeOf(before)) + writeUnits(sizeOf(after))
      : writeUnits(Math.max(sizeOf(before), sizeOf(after)));
    this.#propagate(`${index.definition.name} ${key}`, () => index.apply(key, after));
  }

  #query(request: QueryCommandInput): object {
    const { IndexName: indexName, Limit: limit = Number.POSITIVE_INFINITY, ExclusiveStartKey: from } = request;
    const index = indexName === undefined ? undefined : this.#indexes.get(indexName);
    if (indexName !== undefined && !index) throw new TypeError(`there is no index ${indexName}`);
    const { partition, rest, isUpTo } = keyConditionOf(request, index?.definition.partition ?? 'pk');
    const sortKeys = index?.sortKeys ?? ['sk'];
    const entries = index ? index.partition(partition) : this.#partition(textOf(partition.pk));
    const isForward = request.ScanIndexForward !== false;
    const step = isForward ? 1 : -1;
    let at = isForward ? 0 : entries.length - 1;
    for (let entry = entries[at]; from && entry && step * orderBy(sortKeys, entry, from) <= 0; entry = entries[at]) {
      at += step;
    }
    const found: Attributes[] = [];
    let bytes = 0;
    let isCut = false;
    for (let entry = entries[at]; entry; entry = entries[at]) {
      isCut = found.length >= limit || bytes >= MOST_IN_PAGE_BYTES;
      const fits = rest(entry);
      if (isCut || (!fits && isForward && isUpTo)) break;
      at += step;
      if (!fits) continue;
      found.push(entry);
      bytes += sizeOf(entry);
    }
    const last = isCut ? found.at(-1) : undefined;
    const kind = index ? `${indexName}` : textOf(partition.pk);
    this.#unitsOf({ pk: { S: kind } }).read += readUnits(bytes, request.ConsistentRead === true);
    return { Items: found, Count: found.length, ...(last && { LastEvaluatedKey: last }) };
  }

  #partition(pk: string): Attributes[] {
    const items = [...(this.#partitions.get(pk)?.values() ?? [])];
    return items.sort((a, b) => orderBy(['sk'], a, b));
  }

  #unitsOf(key: Attributes): Units {
    const [kind = ''] = textOf(key.pk).split('#', 1);
    const units = this.units.get(kind) ?? { write: 0, failed: 0, indexWrite: 0, read: 0, largestItemBytes: 0 };
    this.units.set(kind, units);
    return units;
  }
}

interface ConditionalRequest {
  KeyConditionExpression?: string | undefined;
  UpdateExpression?: string | undefined;
  ConditionExpression?: string | undefined;
  ExpressionAttributeNames?: Record<string, string> | undefined;
  ExpressionAttributeValues?: Record<string, AttributeValue> | undefined;
}

function refuseUnused(request: ConditionalRequest): void {
  const {
    KeyConditionExpression: key = '',
    ConditionExpression: condition = '',
    UpdateExpression: update = '',
  } = request;
  const { names, values } = placeholdersOf(request);
  const used = placeholdersIn(`${key} ${condition} ${update}`);
  const unused = [...Object.keys(names), ...Object.keys(values)].find((placeholder) => !used.has(placeholder));
  if (unused !== undefined) throw invalid(`${unused} is unused in expressions`);
}

const invalid = (message: string) =>
  new DynamoDBServiceException({ name: 'ValidationException', message, $fault: 'client', $metadata: {} });

function placeholdersOf(request: ConditionalRequest): Placeholders {
  return { names: request.ExpressionAttributeNames ?? {}, values: request.ExpressionAttributeValues ?? {} };
}

/** The partition that a query reads, and its condition on the sort key. */
function keyConditionOf(request: QueryCommandInput, partitionKey: string) {
  const given = placeholdersOf(request);
  const [first = '', ...others] = (request.KeyConditionExpression ?? '').split(/ AND (.*)/).filter((part) => part);
  const [placeholder = '', comparator, value = ''] = first.split(' ');
  const asked = given.values[value];
  if (given.names[placeholder] !== partitionKey || comparator !== '=' || !asked) {
    throw new SyntaxError(`expected the partition key first: ${request.KeyConditionExpression}`);
  }
  const holds = others.map(parseCondition);
  return {
    partition: { [partitionKey]: asked },
    rest: (entry: Attributes) => holds.every((condition) => condition(entry, given)),
    /** Whether all matches come before the first entry that does not match. */
    isUpTo: others.every((condition) => condition.includes(' <')),
  };
}

function textOf(value: AttributeValue | undefined): string {
  if (value?.S === undefined) throw new TypeError('expected a key that is text');
  return value.S;
}
