import { afterAll, describe, expect, it } from 'vitest';
import { checkOrders } from '../../sandbox/checks.ts';
import { nonceMoments } from '../../sandbox/nonces.ts';
import { defectWithTool, loggedWithTool, rows as withTools } from '../as-person/rows.ts';
import {
  everyFault,
  faults,
  killsAt,
  recoveries,
  refusalsOf,
  silencesOf,
  startTrials,
  stopsAt,
  Tally,
  twice,
} from '../kill/crash-trials.ts';
import * as rows from '../kill/rows.ts';
import type { Effect, Stop } from '../kill/trial.ts';
import type { Way } from '../ways.ts';

/**
 * Kills the relay around every side effect of the webhook, the worker and the sweep, including the runs that a fault
 * causes. Then everything is redelivered, and the result is compared with docs/exactly-once.md.
 */
const tally = new Tally();
afterAll(() => console.log(`Killed: ${tally}.`));

interface Scene {
  row: rows.Row;
  answers: readonly Way[];
  /** The stops of hosts, in order. */
  stops: (effects: readonly Effect[]) => readonly (Stop | readonly Stop[])[];
  /** Whether a stalled host resumes after others have done its work. */
  comesBack?: boolean;
}

const usual: readonly Way[] = ['as it is'];
/** Refusals that are about the call itself. They end a repeatable call, whatever came before. */
const ENDS: readonly Way[] = ['403 scope', '404', '422'];

/** Chooses one in this many of the cases that a fault delays. */
const oneIn =
  (count: number, turn: number, stops: Scene['stops'] = killsAt): Scene['stops'] =>
  (effects) =>
    stops(effects).filter((_, index) => index % count === turn % count);

const placeOf = (effects: readonly Effect[], wanted: string) => effects.findIndex(({ what }) => what === wanted);

/** An issue meets all combinations of points and faults. If the second answer is a refusal, only every second point. */
const wholes: Scene[] = [
  ...faults.slice(1).map((answers, turn) => ({ row: rows.opened, answers, stops: oneIn(answers.length, turn) })),
  ...[rows.edited, rows.loggedInComment, rows.relatedInSlack].map((row) => {
    return { row, answers: ['answer lost'] as const, stops: killsAt };
  }),
  ...faults.slice(1, 3).map((answers) => ({ row: rows.opened, answers, stops: silencesOf })),
  ...[rows.opened, rows.defectInSlack].map((row) => ({ row, answers: usual, stops: twice })),
];

/**
 * Every row meets kills everywhere without other troubles. AWS also refuses each write of a webhook, so that Slack and
 * GitHub get an error. Every second fault meets one point from the signing on: earlier code does not depend on it, and
 * the same code carries out every creation. A tool meets each fault at every such point.
 */
const ofRows: Scene[] = [...rows.rows, ...withTools].flatMap((row, place) => {
  const everywhere = (effects: readonly Effect[]) => [
    ...killsAt(effects),
    ...refusalsOf(effects),
    ...silencesOf(effects),
  ];
  const lost = faultsOf(row).map((answers, index): Scene => {
    const late = (effects: readonly Effect[]) => {
      const signed = effects.findIndex(({ what }) => what.startsWith('PutItem request#') || what === row.operation);
      return killsAt(effects).filter(({ at }) => at >= signed);
    };
    const inTurn: Scene['stops'] = (effects) => [late(effects).at((index * 5) % late(effects).length) ?? []];
    return { row, answers, stops: row.isTool ? late : inTurn };
  });
  return [
    { row, answers: usual, stops: everywhere },
    ...lost.filter((_, index) => row.isTool || index % 2 === place % 2),
  ];
});

function faultsOf({ isTool, repeatable }: rows.Row): readonly (readonly Way[])[] {
  // A tool has no nonce and leaves no signed request: after a lost answer, the relay searches, or the person decides.
  if (isTool) return [['answer lost'], ['cut before the work'], ['passed on after 15 s']];
  const some = faults.slice(1);
  return repeatable
    ? some.filter((answers) => !answers.some((answer) => ENDS.includes(answer)))
    : [...some, ['403 scope']];
}

/**
 * The second entry waits while the relay checks the connection's first. If a person has to decide about that one, the
 * second is itself the first. One in three of the long waits that a fault causes.
 */
const ofTwoEntries = [
  { answers: usual, until: 'PutItem step#reply begun', part: 1 },
  { answers: ['lost on the way', '403 scope'] as const, until: 'ChangeMessageVisibility', part: 3 },
].map(({ answers, until, part }): Scene => {
  const between = (effects: readonly Effect[]) =>
    killsAt(effects).filter(
      ({ at }) => at >= placeOf(effects, 'PutItem first-time-entry') && at < placeOf(effects, until),
    );
  return { row: rows.loggedInTwoComments, answers, stops: oneIn(part, 0, between) };
});

/** The service would accept the entry from the next host: its answer changes, as after a task is reopened. */
const afterRefusals = [rows.loggedInSlack, rows.loggedInModal, rows.loggedInComment].map((row): Scene => {
  const stops = (effects: readonly Effect[]) =>
    killsAt(effects).filter(({ at }) => at > placeOf(effects, row.operation));
  return { row, answers: ['422'], stops };
});

/** A Lambda ends before its lease, but a process on a machine that slept does not. */
const stalled = [
  { row: rows.opened, from: '' },
  { row: rows.opened, answers: faults[1] ?? [], from: '' },
  { row: rows.edited, from: '' },
  // The effects before this are the same for every comment.
  { row: rows.loggedInComment, from: 'PutItem first-time-entry' },
  { row: rows.loggedInSlack, from: '' },
  { row: rows.defectInModal, from: '' },
  { row: rows.doneInComment, from: '' },
  { row: loggedWithTool, from: '' },
  { row: defectWithTool, from: '' },
].map(({ row, answers = usual, from }): Scene => {
  const stops = (effects: readonly Effect[]) => stopsAt(effects).filter(({ at }) => at >= placeOf(effects, from));
  return { row, answers, stops, comesBack: true };
});

describe.each(Object.entries({ wholes, ofRows, ofTwoEntries, afterRefusals, stalled }))('%s', (_, all) => {
  it.each(all)('happens once or ends as documented, wherever hosts stop: $row.what, $answers', async (scene) => {
    const { row, answers, stops, comesBack = false } = scene;
    const trials = await startTrials({}, tally, row);
    // A relay's first trial also learns about the service and the repository, so its effects have other numbers.
    await trials.try({ row, answers });
    await trials.tryEach({ row, answers, comesBack }, stops(await trials.try({ row, answers })));
    await trials.close();
    expect(tally.violations.splice(0)).toEqual([]);
  });
});

/** The worker's claim. Earlier effects do not depend on the service's checks. */
const FIRST_POINT = 4;
const POINTS = 18;

/**
 * All combinations of check orders, nonce moments, points and faults would take half an hour. So each order meets every
 * fault once, and the points in turn.
 */
it.each(checkOrders.map((checkOrder, order) => ({ checkOrder, order })))(
  "one defect is created or parked as documented, in any order of the service's checks: $checkOrder",
  async ({ checkOrder, order }) => {
    const each = Math.ceil(everyFault.length / nonceMoments.length);
    for (const [moment, nonceMoment] of nonceMoments.entries()) {
      const trials = await startTrials({ checkOrder, nonceMoment }, tally);
      for (let trial = 0; trial < each; trial++) {
        const turn = (order * nonceMoments.length + moment) * each + trial;
        const answers = everyFault[turn % everyFault.length] ?? [];
        const stop: Stop = { at: FIRST_POINT + (turn % POINTS), when: turn % 4 < 2 ? 'before' : 'after' };
        await trials.try({
          row: rows.opened,
          answers,
          stops: [stop],
          recovery: recoveries[turn % recoveries.length],
        });
        tally.points += 1;
      }
      await trials.close();
    }
    expect(tally.violations.splice(0)).toEqual([]);
  },
);
