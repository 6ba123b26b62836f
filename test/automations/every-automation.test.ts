import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { killsAt, startTrials, Tally } from '../kill/crash-trials.ts';
import type { Row } from '../kill/rows.ts';
import type { Way } from '../ways.ts';

/** The rows of tools. A relay that does not act as a person has none. */
const brought = globSync('../*/rows.ts', { cwd: import.meta.dirname }).map((file) =>
  resolve(import.meta.dirname, file),
);
const rows = (await Promise.all(brought.map((file) => import(file)))).flatMap(
  (one: { rows: readonly Row[] }) => one.rows,
);

/** The faults of the first send of an automation's main operation. */
const faults: readonly (readonly Way[])[] = [
  ['as it is'],
  ['answer lost'],
  ['cut before the work'],
  ['500 after the work'],
  ['maintenance page'],
  ['429 for 20 s'],
  ['answer lost', '429 for 20 s'],
  ['403 scope'],
];

/** The number of kills for each row, evenly spread. The tests of test/long/crash-*.test.ts kill everywhere. */
const KILLS = 8;

describe.each(rows)('$automation: $what', (row) => {
  const tally = new Tally();
  let trials: Awaited<ReturnType<typeof startTrials>>;
  beforeAll(async () => {
    trials = await startTrials({}, tally, row);
  });
  afterAll(() => trials.close());

  const itsFaults = row.repeatable ? faults.filter((answers) => !answers.includes('403 scope')) : faults;
  it.each(itsFaults.map((answers) => ({ answers })))(
    'happens once, or ends as documented: $answers',
    async ({ answers }) => {
      await trials.try({ row, answers });
      expect(tally.violations.splice(0)).toEqual([]);
    },
  );

  // A repeated command is a new command.
  it.skipIf(row.incoming(0).some(({ from }) => from === 'slack command'))(
    'happens once, however often it is delivered',
    async () => {
      await trials.try({ row, answers: ['as it is'], isRepeated: true });
      expect(tally.violations.splice(0)).toEqual([]);
    },
  );

  it('happens once wherever the relay is killed', async () => {
    const answers = ['as it is'] as const;
    const kills = killsAt(await trials.try({ row, answers }));
    const apart = Math.ceil(kills.length / KILLS);
    await trials.tryEach(
      { row, answers },
      kills.filter((_, index) => index % apart === 0),
    );
    expect(tally.violations.splice(0)).toEqual([]);
  });
});
