import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTable, type Expression, type Item, type Table } from '../../lib/table/table.ts';
import { type LocalStack, startLocalStack } from '../../local/stack.ts';
import { createMemoryTable } from './memory-table.ts';

let stack: LocalStack;
let real: Table;
beforeEach(async () => {
  stack = await startLocalStack();
  real = createTable(
    new DynamoDBClient({ endpoint: stack.variables.AWS_ENDPOINT_URL_DYNAMODB }),
    stack.variables.TABLE_NAME,
  );
});
afterEach(() => stack.close());

const key = { pk: 'a', sk: 'b' };
const start: Item = { n: 1, text: 'x', deep: { owner: 'me' }, list: [1, 'two'], bytes: new Uint8Array([1, 2]) };

const conditions: Expression[] = [
  { expression: 'attribute_not_exists(#pk)' },
  { expression: 'attribute_exists(#pk)' },
  { expression: '#n = :n', values: { n: 1 } },
  { expression: '#n <> :n', values: { n: 1 } },
  { expression: '#n <= :n AND #text = :text', values: { n: 1, text: 'y' } },
  { expression: '#missing < :n', values: { n: 1 } },
  { expression: '#missing <> :n', values: { n: 1 } },
  { expression: '#deep.#owner = :owner', values: { owner: 'me' } },
  { expression: 'attribute_not_exists(#pk) OR (#text = :text AND #n >= :n)', values: { text: 'x', n: 1 } },
  { expression: '#n > :n OR #text = :text AND attribute_not_exists(#deep)', values: { text: 'x', n: 1 } },
];

it.each(conditions)('decides a condition as DynamoDB does: $expression', async (condition) => {
  const memory = createMemoryTable();
  for (const exists of [false, true]) {
    const results = [];
    for (const table of [real, memory]) {
      await table.delete(key);
      if (exists) await table.put({ ...key, ...start });
      results.push([
        await table.put({ ...key, put: true }, condition),
        await table.get(key),
        await table.delete(key, condition),
        await table.get(key),
      ]);
    }
    expect(results[1]).toEqual(results[0]);
  }
});

it.each<Expression>([
  { expression: 'SET #n = :n, #new = :new REMOVE #text, #missing', values: { n: 2, new: { a: [1], b: undefined } } },
  { expression: 'SET #text = :text ADD #n :n, #count :n', values: { text: 'y', n: 3 } },
  { expression: 'REMOVE #deep' },
])('changes an item as DynamoDB does: $expression', async (change) => {
  const memory = createMemoryTable();
  const results = [];
  for (const table of [real, memory]) {
    await table.put({ ...key, ...start });
    await table.put({ ...key, sk: 'a' });
    results.push([await table.update(key, change), await table.partition('a'), await table.lastOf('a', 1)]);
  }
  expect(results[1]).toEqual(results[0]);
});
