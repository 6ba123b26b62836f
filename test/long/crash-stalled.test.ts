import { expect, it } from 'vitest';
import { edited, faults, opened, recoveries, startTrials, stopsAt, Tally } from '../kill/crash-trials.ts';

/**
 * A host that stands still at a side effect until its lease has run out and others have done its work, and that then
 * goes on as if nothing had happened. A Lambda is killed before that; a process on one machine, whose computer slept,
 * is not.
 */
it('one defect, wherever a host stands still and goes on after others did its work', async () => {
  const tally = new Tally();
  const trials = await startTrials({}, tally);
  for (const [row, some] of [
    [opened, faults.slice(0, 2)],
    [edited, faults.slice(0, 1)],
  ] as const) {
    for (const answers of some) {
      const stops = stopsAt(await trials.try({ row, answers }));
      tally.points += stops.length;
      for (const [turn, stop] of stops.entries()) {
        const recovery = recoveries[turn % recoveries.length];
        await trials.try({ row, answers, stops: [stop], comesBack: true, recovery });
      }
    }
  }
  await trials.close();
  console.log(`Stood still once: ${tally}.`);
  expect(tally.violations).toEqual([]);
});
