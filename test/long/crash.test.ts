import { afterAll, expect, it } from 'vitest';
import { edited, faults, opened, recoveries, startTrials, stopsAt, Tally, transferred } from '../kill/crash-trials.ts';

const tally = new Tally();
afterAll(() => console.log(`Killed: ${tally}.`));

/**
 * Kills the relay before and after every side effect that it has, of the webhook, of the worker and of the sweep, of
 * the runs that a fault brings about too; then lets it be redelivered. This is the whole product of points and faults
 * for one order of the service's checks; crash-orders.test.ts has the other orders.
 */
it.each([
  [opened, faults],
  [edited, faults.slice(0, 2)],
  [transferred, faults.slice(0, 1)],
])(
  'one defect, or parked as the document says, wherever the relay is killed: $automation, $what',
  async (row, some) => {
    const trials = await startTrials({}, tally);
    for (const answers of some) {
      const stops = stopsAt(await trials.try({ row, answers }));
      tally.points += stops.length;
      for (const [turn, stop] of stops.entries()) {
        await trials.try({ row, answers, stops: [stop], recovery: recoveries[turn % recoveries.length] });
      }
    }
    await trials.close();
    expect(tally.violations).toEqual([]);
  },
);

it('one defect, where the relay is killed and soon after once more', async () => {
  const trials = await startTrials({}, tally);
  const [answers = []] = faults;
  const effects = await trials.try({ row: opened, answers });
  for (const [turn, stop] of stopsAt(effects).entries()) {
    const stops = [stop, { at: stop.at + 1 + (turn % 5), when: turn % 3 === 0 ? 'after' : 'before' } as const];
    tally.points += 1;
    await trials.try({ row: opened, answers, stops, recovery: recoveries[turn % recoveries.length] });
  }
  await trials.close();
  expect(tally.violations).toEqual([]);
});
