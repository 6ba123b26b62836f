import { expect, it } from 'vitest';
import { inWords, playAll } from '../fuzz/fuzz.ts';
import type { Action } from '../fuzz/history.ts';
import { foundHistories, smallHistories } from '../fuzz/small-histories.ts';

const happenings = (history: readonly Action[]) =>
  history.flatMap((action) => (action.do === 'happens' ? action.what : [])).join(', ');

/** Pairs of events in which the second depends on the effect of the first. `npm run test:long` plays all pairs. */
const pairs = ['opened, unlabeled, labeled', 'opened, transferred, edited title'];

it('every promise about an issue is kept if another event comes at any stage of its first job', async () => {
  const ofPairs = [...smallHistories(2)].filter((history) => pairs.includes(happenings(history)));
  const findings = await playAll([...smallHistories(1), ...ofPairs, ...Object.values(foundHistories)]);
  expect(findings.map(inWords)).toEqual([]);
});
