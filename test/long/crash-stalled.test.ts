import { expect, it } from 'vitest';
import { faults, startTrials, stopsAt, Tally } from '../kill/crash-trials.ts';
import {
  defectInModal,
  doneInComment,
  edited,
  loggedInComment,
  loggedInSlack,
  opened,
  type Row,
} from '../kill/rows.ts';
import type { Effect } from '../kill/trial.ts';

const everywhere = () => 0;
/** What comes before is the same for every comment. */
const fromFirstEntry = (effects: readonly Effect[]) =>
  effects.findIndex(({ what }) => what === 'PutItem first-time-entry');

/**
 * A host that stands still at a side effect until its lease has run out and others have done its work, and that then
 * goes on as if nothing had happened. A Lambda is killed before that; a process on one machine, whose computer slept,
 * is not.
 */
it('each action happens once if a host stalls and continues after others did its work', async () => {
  const tally = new Tally();
  const trials = await startTrials({}, tally);
  const some: [Row, typeof faults, (effects: readonly Effect[]) => number][] = [
    [opened, faults.slice(0, 2), everywhere],
    [edited, faults.slice(0, 1), everywhere],
    [loggedInComment, faults.slice(0, 1), fromFirstEntry],
    [loggedInSlack, faults.slice(0, 1), everywhere],
    [defectInModal, faults.slice(0, 1), everywhere],
    [doneInComment, faults.slice(0, 1), everywhere],
  ];
  for (const [row, answersOfRow, from] of some) {
    for (const answers of answersOfRow) {
      const effects = await trials.try({ row, answers });
      const stops = stopsAt(effects).filter(({ at }) => at >= from(effects));
      await trials.tryEach({ row, answers, comesBack: true }, stops);
    }
  }
  await trials.close();
  console.log(`Stood still once: ${tally}.`);
  expect(tally.violations).toEqual([]);
});
