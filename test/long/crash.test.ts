import { afterAll, expect, it } from 'vitest';
import { andOnceMore, faults, killsAt, silencesOf, startTrials, Tally } from '../kill/crash-trials.ts';
import { edited, opened, transferred } from '../kill/rows.ts';

const tally = new Tally();
afterAll(() => console.log(`Killed: ${tally}.`));

/**
 * Kills the relay around every side effect that it has, of the webhook, of the worker and of the sweep, of
 * the runs that a fault brings about too; then lets it be redelivered. This is the product of points and faults for one
 * order of the service's checks; where a second answer is a refusal, every second point, in turn. crash-orders.test.ts
 * has the other orders, crash-commands.test.ts the other automations.
 */
it.each([
  ...faults.map((answers, turn) => ({ ...opened, row: opened, answers, turn })),
  ...faults.slice(0, 2).map((answers) => ({ ...edited, row: edited, answers, turn: 0 })),
  ...faults.slice(0, 1).map((answers) => ({ ...transferred, row: transferred, answers, turn: 0 })),
])(
  'one defect is created or parked as documented, wherever the relay is killed: $automation, $what, $answers',
  async ({ row, answers, turn }) => {
    const trials = await startTrials({}, tally);
    const stops = killsAt(await trials.try({ row, answers }));
    const apart = answers.length;
    await trials.tryEach(
      { row, answers },
      stops.filter((_, index) => index % apart === turn % apart),
    );
    await trials.close();
    expect(tally.violations.splice(0)).toEqual([]);
  },
);

it.each(faults.slice(0, 3).map((answers) => ({ answers })))(
  'one defect is created or parked as documented, wherever AWS is silent: $answers',
  async ({ answers }) => {
    const trials = await startTrials({}, tally);
    await trials.tryEach({ row: opened, answers }, silencesOf(await trials.try({ row: opened, answers })));
    await trials.close();
    expect(tally.violations.splice(0)).toEqual([]);
  },
);

it('one defect is created if the relay is killed twice in a row', async () => {
  const trials = await startTrials({}, tally);
  const [answers = []] = faults;
  const effects = await trials.try({ row: opened, answers });
  await trials.tryEach({ row: opened, answers }, andOnceMore(killsAt(effects)));
  await trials.close();
  expect(tally.violations.splice(0)).toEqual([]);
});
