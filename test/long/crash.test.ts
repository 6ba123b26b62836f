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
 * The relay is killed around every side effect that it has: of the webhook, of the worker and of the sweep, of the runs
 * that a fault brings about too. Then everything is redelivered, and it is held against docs/exactly-once.md.
 */
const tally = new Tally();
afterAll(() => console.log(`Killed: ${tally}.`));

interface Scene {
  row: rows.Row;
  answers: readonly Way[];
  /** Where hosts stop, one after the other. */
  stops: (effects: readonly Effect[]) => readonly (Stop | readonly Stop[])[];
  /** Others do the work of a host that stands still, and then it goes on as if nothing had happened. */
  comesBack?: boolean;
}

const usual: readonly Way[] = ['as it is'];
/** Refusals for what a call is. They end what may be repeated, whatever went before. */
const ENDS: readonly Way[] = ['403 scope', '404', '422'];

/** Of those that a fault delays, one in so many. */
const oneIn =
  (count: number, turn: number, stops: Scene['stops'] = killsAt): Scene['stops'] =>
  (effects) =>
    stops(effects).filter((_, index) => index % count === turn % count);

const placeOf = (effects: readonly Effect[], wanted: string) => effects.findIndex(({ what }) => what === wanted);

/** An issue meets the whole product of points and faults; where a second answer is a refusal, every second point. */
const wholes: Scene[] = [
  ...faults.slice(1).map((answers, turn) => ({ row: rows.opened, answers, stops: oneIn(answers.length, turn) })),
  ...[rows.edited, rows.loggedInComment, rows.relatedInSlack].map((row) => {
    return { row, answers: ['answer lost'] as const, stops: killsAt };
  }),
  ...faults.slice(1, 3).map((answers) => ({ row: rows.opened, answers, stops: silencesOf })),
  ...[rows.opened, rows.defectInSlack].map((row) => ({ row, answers: usual, stops: twice })),
];

/**
 * Every row meets kills everywhere while nothing else goes wrong, and each write of a webhook is also refused by AWS, so
 * that Slack and GitHub are answered with an error. Every second fault meets one point from the signing on: what comes before
 * does not depend on it, and the same code carries out every creation. A tool meets each fault at every such point.
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
  // A tool has no nonce and leaves no signed request: what may have left is looked for, or left to the person.
  if (isTool) return [['answer lost'], ['cut before the work'], ['passed on after 15 s']];
  const some = faults.slice(1);
  return repeatable
    ? some.filter((answers) => !answers.some((answer) => ENDS.includes(answer)))
    : [...some, ['403 scope']];
}

/**
 * The second entry waits while the connection's first is checked, and is the first itself where that one is left to a
 * person. Of the long waits that a fault brings about, one in three.
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

/** The service would take the entry from the next host: its answer changes, as after a task was opened again. */
const afterRefusals = [rows.loggedInSlack, rows.loggedInModal, rows.loggedInComment].map((row): Scene => {
  const stops = (effects: readonly Effect[]) =>
    killsAt(effects).filter(({ at }) => at > placeOf(effects, row.operation));
  return { row, answers: ['422'], stops };
});

/** A Lambda is killed before its lease has run out; a process on one machine, whose computer slept, is not. */
const stalled = [
  { row: rows.opened, from: '' },
  { row: rows.opened, answers: faults[1] ?? [], from: '' },
  { row: rows.edited, from: '' },
  // What comes before is the same for every comment.
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
    // The first trial of a relay also learns about the service and the repository, so its effects come in other places.
    await trials.try({ row, answers });
    await trials.tryEach({ row, answers, comesBack }, stops(await trials.try({ row, answers })));
    await trials.close();
    expect(tally.violations.splice(0)).toEqual([]);
  });
});

/** From the worker's claim on: what comes before does not depend on what the service checks. */
const FIRST_POINT = 4;
const POINTS = 18;

/**
 * The whole product of the orders of the service's checks, the moments at which it can remember a nonce, points and faults
 * would take half an hour, so that each order meets every fault once, and the points in turn.
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
