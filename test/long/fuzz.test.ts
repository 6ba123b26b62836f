import { expect, it } from 'vitest';
import { fuzz, inWords, playAll } from '../fuzz/fuzz.ts';
import { smallHistories, twoOperators } from '../fuzz/small-histories.ts';
import { RUNS, SEED } from './fuzz-runs.ts';

const TIMEOUT_MS = 1_800_000;

it(
  'every promise is kept in random histories',
  async () => {
    const finding = await fuzz(RUNS, SEED);
    console.log(`${RUNS} random histories with the seed ${SEED}.`);
    expect(finding && inWords(finding)).toBeUndefined();
  },
  TIMEOUT_MS,
);

it.each([
  ['two events at every stage of the first job, in their order and out of it', () => smallHistories(2)],
  ['two operators who decide about the same job', () => twoOperators(6)],
] as const)(
  'every promise is kept: %s',
  async (what, histories) => {
    const all = [...histories()];
    const startedAt = Date.now();
    const findings = await playAll(all);
    console.log(`${all.length} histories in ${Math.round((Date.now() - startedAt) / 1000)} s: ${what}.`);
    expect(findings.map(inWords)).toEqual([]);
  },
  TIMEOUT_MS,
);
