import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Level } from 'level';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeInTurn } from '../../local/write-in-turn.ts';

const path = mkdtempSync(join(tmpdir(), 'partner-relay-files-'));
const own = Object.getOwnPropertyDescriptors(Level.prototype);
let files: Level<string, unknown>;
beforeEach(async () => {
  writeInTurn();
  files = new Level(path, { valueEncoding: 'json' });
  await files.open();
});
afterEach(async () => {
  await files.close();
  for (const name of ['put', 'del', 'batch'] as const) Reflect.deleteProperty(Level.prototype, name);
  Object.defineProperties(Level.prototype, own);
  rmSync(path, { recursive: true, force: true });
});

it('simultaneous writes are all carried out, in order', async () => {
  await Promise.all([
    ...Array.from({ length: 50 }, (_, number) => files.put(`key ${number % 5}`, number)),
    files.del('key 3'),
    files.batch([{ type: 'put', key: 'another', value: 1 }]),
  ]);
  expect(await files.iterator().all()).toEqual([
    ['another', 1],
    ...[0, 1, 2, 4].map((number) => [`key ${number}`, 45 + number]),
  ]);
});

it('nothing is written or answered after a failed write', async () => {
  const unwritable = {
    toJSON() {
      throw new Error('the disk is full');
    },
  };
  const answered: string[] = [];
  const put = (key: string, value: unknown) =>
    files.put(key, value).then(
      () => answered.push(key),
      () => answered.push(`${key} failed`),
    );
  await put('before', 1);
  const failing = put('failing', unwritable);
  void put('behind', 1);
  await failing;
  void put('later', 1);
  await sleep(50);
  expect(answered).toEqual(['before', 'failing failed']);
  expect(await files.keys().all()).toEqual(['before']);
});
