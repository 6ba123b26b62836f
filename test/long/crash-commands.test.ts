import { afterAll, describe, expect, it } from 'vitest';
import { sandboxCommands } from '../as-person/linked.ts';
import {
  andOnceMore,
  faults,
  killsAt,
  refusalsOf,
  silencesOf,
  startTrials,
  stopsAt,
  Tally,
} from '../kill/crash-trials.ts';
import {
  checked,
  defectInModal,
  defectInSlack,
  defectWithTool,
  doneInComment,
  loggedInComment,
  loggedInModal,
  loggedInSlack,
  loggedInTwoComments,
  loggedWithTool,
  merged,
  type Row,
  relatedByPullRequest,
  relatedInSlack,
  testsFailed,
  testsFailedTwice,
} from '../kill/rows.ts';
import type { Effect } from '../kill/trial.ts';
import type { Way } from '../ways.ts';

const tally = new Tally();
afterAll(() => console.log(`Killed at what people asked for: ${tally}.`));

/** Refusals for what a call is. They end what may be repeated, whatever went before. */
const ENDS: readonly Way[] = ['403 scope', '404', '422'];

/**
 * What people ask for in person, and what a merged pull request does: the relay is killed around every side effect, and
 * each write of a webhook is also refused by AWS, so that Slack and GitHub are answered with an error. That is done under
 * the first `whole` of the faults. Each other fault meets `inTurn` points from the signing on, because what comes before
 * does not depend on it; crash.test.ts has the whole product, and the same code carries out every creation. In each
 * trial that logs time, the first time entry of the connection is made and read back again.
 */
it.each([
  { row: loggedInComment, whole: 2, inTurn: 2 },
  { row: loggedInSlack, whole: 1, inTurn: 2 },
  { row: defectInSlack, whole: 1, inTurn: 0 },
  { row: defectInModal, whole: 1, inTurn: 0 },
  { row: doneInComment, whole: 1, inTurn: 2 },
  { row: merged, whole: 1, inTurn: 0 },
  { row: relatedInSlack, whole: 2, inTurn: 1 },
  { row: relatedByPullRequest, whole: 1, inTurn: 1 },
  { row: checked, whole: 1, inTurn: 2 },
  { row: testsFailed, whole: 1, inTurn: 2 },
  { row: testsFailedTwice, whole: 1, inTurn: 2 },
])(
  'each action happens once or is parked as documented, wherever the relay is killed: $row.automation, $row.what',
  async ({ row, whole, inTurn }) => {
    const trials = await startTrials({}, tally);
    let turn = 0;
    for (const [index, answers] of faultsOf(row).entries()) {
      if (index >= whole && inTurn === 0) break;
      const effects = await trials.try({ row, answers });
      const stops = [...killsAt(effects), ...(index === 0 ? [...refusalsOf(effects), ...silencesOf(effects)] : [])];
      if (index < whole) {
        await trials.tryEach({ row, answers }, stops);
        continue;
      }
      const late = stops.filter(({ at }) => at >= signing(effects, row));
      const some = Array.from({ length: inTurn }, () => late[(turn++ * 5) % late.length]);
      await trials.tryEach(
        { row, answers },
        some.filter((stop) => stop !== undefined),
      );
    }
    await trials.close();
    expect(tally.violations.splice(0)).toEqual([]);
  },
);

/**
 * The second entry waits while the connection's first is checked, and is the first itself where that one is left to a
 * person. Stopped are the steps that lie between the first one's claim and its check, or its end; of the long waits that
 * a fault brings about, one in three.
 */
it.each([
  { answers: ['as it is'], until: 'PutItem step#reply begun', oneIn: 1 },
  { answers: ['lost on the way', '403 scope'], until: 'ChangeMessageVisibility', oneIn: 3 },
] as const)('each entry once, where the first is killed and meets the second: $answers', async (scene) => {
  const { answers, until, oneIn } = scene;
  const row = loggedInTwoComments;
  const trials = await startTrials({}, tally);
  const effects = await trials.try({ row, answers });
  const place = (wanted: string) => effects.findIndex(({ what }) => what === wanted);
  const kills = killsAt(effects).filter(({ at }) => at >= place('PutItem first-time-entry') && at < place(until));
  const some = kills.filter((_, index) => index % oneIn === 0);
  await trials.tryEach({ row, answers }, some);
  await trials.close();
  expect(tally.violations.splice(0)).toEqual([]);
});

/** The service would take the entry from the next host: its answer changes, as after a task was opened again. */
it.each([loggedInSlack, loggedInModal, loggedInComment])(
  'nothing is done after a person was told that it was not: $what',
  async (row) => {
    const trials = await startTrials({}, tally);
    const answers = ['422'] as const;
    const effects = await trials.try({ row, answers });
    const refusal = effects.findIndex(({ what }) => what === row.operation);
    await trials.tryEach(
      { row, answers },
      killsAt(effects).filter(({ at }) => at > refusal),
    );
    await trials.close();
    expect(tally.violations.splice(0)).toEqual([]);
  },
);

/** A tool has no nonce and leaves no signed request: what may have left is looked for, or left to the person. */
describe.each([loggedWithTool, defectWithTool])('$what', (row) => {
  it.each(['as it is', 'answer lost', 'cut before the work', 'passed on after 15 s'] as const)(
    'the tool is called once at most, wherever the relay is killed: %s',
    async (answer) => {
      const mcp = { enabled: true, rateLimit: { perMinute: 1_000_000, perDay: 1_000_000 }, toolsPerPage: 100 };
      const trials = await startTrials({ mcp }, tally, sandboxCommands());
      const answers = [answer];
      const effects = await trials.try({ row, answers });
      const sent = effects.findIndex(({ what }) => what === row.operation);
      const kills = killsAt(effects).filter(({ at }) => answer === 'as it is' || at >= sent - 2);
      await trials.tryEach({ row, answers }, kills);
      if (answer === 'as it is') await trials.tryEach({ row, answers, comesBack: true }, stopsAt(effects));
      await trials.close();
      expect(tally.violations.splice(0)).toEqual([]);
    },
  );
});

it('each command runs once if the relay is killed twice in a row', async () => {
  const row = defectInSlack;
  const { typedAgain } = tally;
  const trials = await startTrials({}, tally);
  const [answers = []] = faults;
  await trials.tryEach({ row, answers }, andOnceMore(killsAt(await trials.try({ row, answers }))));
  await trials.close();
  expect(tally.violations.splice(0)).toEqual([]);
  expect(tally.typedAgain).toBeGreaterThan(typedAgain);
});

function faultsOf({ repeatable }: Row): typeof faults {
  if (!repeatable) return [...faults, ['403 scope']];
  return faults.filter((answers) => !answers.some((answer) => ENDS.includes(answer)));
}

function signing(effects: readonly Effect[], { operation }: Row): number {
  return effects.findIndex(({ what }) => what.startsWith('PutItem request#') || what === operation);
}
