import { expect, it } from 'vitest';
import { checkOrders } from '../../sandbox/checks.ts';
import { nonceMoments } from '../../sandbox/nonces.ts';
import { everyFault, recoveries, startTrials, Tally } from '../kill/crash-trials.ts';
import { opened } from '../kill/rows.ts';

/** Enough for every fault under every order, over its nonce moments. */
const TRIALS = Math.ceil(everyFault.length / nonceMoments.length);
/** From the worker's claim on: what comes before does not depend on what the service checks. */
const FIRST_POINT = 4;
const POINTS = 18;

/**
 * Every selectable order of the service's checks, with every moment at which it can remember a nonce. The whole product
 * with points and faults would take half an hour, so that each order meets every fault once, and the points in turn.
 */
it("one defect is created or parked as documented, in any order of the service's checks", async () => {
  const tally = new Tally();
  let turn = 0;
  for (const checkOrder of checkOrders) {
    for (const nonceMoment of nonceMoments) {
      const trials = await startTrials({ checkOrder, nonceMoment }, tally);
      for (let trial = 0; trial < TRIALS; trial++, turn++) {
        const [answers = []] = [everyFault[turn % everyFault.length]];
        const stop = { at: FIRST_POINT + (turn % POINTS), when: turn % 4 < 2 ? 'before' : 'after' } as const;
        await trials.try({ row: opened, answers, stops: [stop], recovery: recoveries[turn % recoveries.length] });
        tally.points += 1;
      }
      await trials.close();
    }
  }
  console.log(`Killed once, in every order of the checks: ${tally}.`);
  expect(tally.violations).toEqual([]);
});
