import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTable, type Expression, type Table } from '../../lib/state/table/table.ts';
import { type LossyProxy, startLossyProxy } from '../lossy-proxy.ts';
import type { TableServer } from './table-server.ts';

let server: TableServer;
let proxy: LossyProxy;
/** The table of a worker that loses answers, and of one that does not. */
let table: Table;
let rival: Table;

const key = { pk: 'hook', sk: 'one' };
const unlessThere: Expression = { expression: 'attribute_not_exists(#pk)' };
const isThere: Expression = { expression: 'attribute_exists(#pk)' };
const atOne: Expression = { expression: '#version = :one', values: { one: 1 } };
const toTwo: Expression = { expression: 'SET #version = :two REMOVE #note', values: { two: 2 } };
const belowFive: Expression = { expression: '#version < :five', values: { five: 5 } };
const added: Expression = { expression: 'ADD #version :more', values: { more: 1 } };

const isConditional = (body: string) => body.includes('Condition');

type Row = [
  what: string,
  before: object | undefined,
  write: (by: Table) => Promise<unknown>,
  after: object | undefined,
];

/** Writes whose caller learns whether they were carried out. */
const writes: Row[] = [
  ['put of a new item', undefined, (by) => by.put({ ...key, version: 1 }, unlessThere), { version: 1 }],
  ['put of a next version', { version: 1, note: 'old' }, (by) => by.put({ ...key, version: 2 }, atOne), { version: 2 }],
  ['delete', { version: 1 }, (by) => by.delete(key, atOne), undefined],
];
/** Writes whose caller gets the item, or nothing. */
const noted = { version: 1, note: 'old', kept: true };
const updates: Row[] = [
  ['update that sets', noted, (by) => by.update(key, toTwo, atOne), { version: 2, kept: true }],
  ['count up to a limit', { version: 1 }, (by) => by.update(key, added, belowFive), { version: 2 }],
  ['update that only adds', { version: 1 }, (by) => by.update(key, added, atOne), { version: 2 }],
];

/** The relay's requirements of DynamoDB, which every server must meet. */
export function tableStatements(startServer: () => Promise<TableServer>): void {
  beforeAll(async () => {
    server = await startServer();
    proxy = await startLossyProxy(server.endpoint);
    table = createTable(new DynamoDBClient({ endpoint: proxy.url }), server.tableName, Date.now);
    rival = createTable(new DynamoDBClient({ endpoint: server.endpoint }), server.tableName, Date.now);
  });
  afterAll(async () => {
    await proxy.close();
    await server.close();
  });

  describe.each([...updates, ...writes])('a conditional %s', (what, before, write, after) => {
    const isUpdate = updates.some(([one]) => one === what);
    const says = isUpdate ? { ...key, ...after } : true;
    const refused = isUpdate ? undefined : false;
    async function begin(): Promise<void> {
      await rival.delete(key);
      if (before) await rival.put({ ...key, ...before });
      proxy.lost = 0;
    }

    it('recognizes its own repetition after a lost answer', async () => {
      await begin();
      proxy.loseAnswer(isConditional);
      expect(await write(table)).toEqual(says);
      expect(proxy.lost).toBe(1);
      expect(await table.get(key)).toEqual(after && { ...key, ...after });
    });

    it('is refused if another worker was first, even when it is sent twice', async () => {
      await begin();
      await rival.put({ ...key, version: 7 }, before ? atOne : unlessThere);
      expect(await write(table)).toBe(refused);
      proxy.loseAnswer(isConditional);
      expect(await write(table)).toBe(refused);
      expect(await table.get(key)).toEqual({ ...key, version: 7 });
    });

    it('is refused if another worker has changed the item before the repetition', async () => {
      await begin();
      proxy.loseAnswer(isConditional, async () => void (await rival.put({ ...key, version: 7 })));
      expect(await write(table)).toBe(refused);
      expect(await table.get(key)).toEqual({ ...key, version: 7 });
    });

    const renote: Expression = { expression: 'SET #note = :newer', values: { newer: 'newer' } };
    const WRITTEN_OVER = 'recognizes its own repetition if other workers have written the item with %s before it';
    it.each([
      ['seven puts', 7, (item: object) => rival.put({ ...key, ...item, note: 'newer' }, isThere)],
      ['an update', 1, () => rival.update(key, renote, isThere)],
    ])(WRITTEN_OVER, async (_, times, over) => {
      if (!after) return;
      await begin();
      proxy.loseAnswer(isConditional, async () => {
        for (let count = 1; count <= times; count++) await over((await rival.get(key)) ?? {});
      });
      const newer = { ...key, ...after, note: 'newer' };
      expect(await write(table)).toEqual(says === true || newer);
      expect(await table.get(key)).toEqual(newer);
    });
  });

  it('an item does not show its last write, however it is read', async () => {
    await rival.delete(key);
    await table.put({ ...key, status: 'queued', wakeAt: 1 }, unlessThere);
    const item = { ...key, status: 'queued', wakeAt: 1 };
    expect(await table.partition(key.pk)).toEqual([item]);
    const queued = { expression: '#status = :status', values: { status: 'queued' } };
    expect(await Array.fromAsync(table.indexPages('jobs-by-status', queued, 1, true))).toContainEqual([item]);
    const { Items = [] } = await new DynamoDBClient({ endpoint: server.endpoint }).send(
      new ScanCommand({ TableName: server.tableName }),
    );
    expect(Items.map((one) => unmarshall(one))).toEqual([{ ...item, writeId: expect.stringMatching(/^[\w-]{12}$/) }]);
  });

  describe('a list that is larger than a page of 1 MB', () => {
    const queued: Expression = { expression: '#status = :status', values: { status: 'queued' } };
    const sizes = Array.from({ length: 5 }, (_, place) => ({ pk: 'large', sk: `${place}`, note: 'x'.repeat(300_000) }));

    const pages = () => Array.fromAsync(table.indexPages('jobs-by-status', queued, 100));
    it.each<[string, () => Promise<number>]>([
      ['a partition', async () => (await table.partition('large')).length],
      ['a count', () => table.countIndex('jobs-by-status', queued, 100)],
      ['all pages of an index', async () => (await pages()).flat().length],
    ])('%s is read to its end', async (_, read) => {
      await rival.delete(key);
      for (const [wakeAt, item] of sizes.entries()) await rival.put({ ...item, status: 'queued', wakeAt });
      expect(await read()).toBe(sizes.length);
    });
  });
}
