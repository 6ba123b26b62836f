import fc from 'fast-check';
import { countings } from '../service/budget/service-model.ts';
import type { Way } from '../ways.ts';
import { type Happening, happenings, type PullChange, type RunEnd, WORKFLOWS } from './github.ts';
import { type Trouble, troubles } from './process.ts';
import { type Detour, destinations, type Limits } from './service.ts';

/** Most of what happens, happens to the first. */
const ISSUES = [0, 0, 0, 1];

/** What an operator does about a job, about an issue, or about a backfill. */
const operations = [
  'replay',
  'resolve --done',
  'resolve --again',
  'resolve --search',
  'discard',
  'link --set',
  'link --clear',
  'backfill',
] as const;
export type Operation = (typeof operations)[number];

/** How it is told. What GitHub holds is delivered later, or at the end. */
export interface Told {
  held: boolean;
  troubles: Trouble[];
}

/** Something that happens to the relay, or around it. What does not apply at its moment does nothing. */
export type Action =
  /** What the service allows from the beginning. Without it, the limits are out of reach. */
  | ({ do: 'limits' } & Limits)
  /** To an issue on GitHub. */
  | ({ do: 'happens'; what: Happening; issue: number } & Told)
  /** A delivery arrives, late or once more; below 0, the last that has not arrived. */
  | { do: 'delivers'; which: number; troubles: Trouble[] }
  /** A person asks for a defect in Slack, or Slack sends their last command once more. */
  | { do: 'commands'; again: boolean; troubles: Trouble[] }
  /** A person asks for checklist items, in Slack, in a comment, or with the text of a merged pull request. */
  | ({ do: 'asks'; from: 'slack' | 'comment' | 'merge'; isDone: boolean; items: readonly number[] } & Told)
  /** A person links a defect in Slack. */
  | { do: 'relates'; which: number; to: 'task' | 'step'; troubles: Trouble[] }
  /** A run of a workflow ends. */
  | ({ do: 'tests' } & RunEnd & Told)
  /** A pull request is opened or changed. */
  | ({ do: 'pulls' } & PullChange & Told)
  /** The worker gets the next message. */
  | { do: 'works'; lane: number; troubles: Trouble[] }
  | { do: 'works off' }
  | { do: 'sweeps'; troubles: Trouble[] }
  | { do: 'passes'; seconds: number }
  /** A stalled process goes on. */
  | { do: 'resumes'; which: number }
  /** A message is delivered once more; below 0, the last. */
  | { do: 'redrives'; which: number }
  | { do: 'diverts'; detour: Detour }
  | { do: 'operates'; operation: Operation; which: number; other: number; troubles: Trouble[] }
  /** A person changes a defect in the service. */
  | { do: 'edits'; which: number; field: 'title' | 'description' }
  /** GitHub does not show the issues any more, so that nobody can say which of two states of one second is newer. */
  | { do: 'hides issues' }
  /** Everything is worked off, to the end of all waits, or until a job is parked. */
  | { do: 'settles'; untilParked: boolean };

export const BEGINNING = { do: 'happens', what: 'opened', issue: 0, held: false, troubles: [] } satisfies Action;

const place = fc.nat({ max: 7 });

const trouble = fc.record({
  at: fc.oneof({ weight: 3, arbitrary: fc.nat({ max: 12 }) }, { weight: 2, arbitrary: fc.nat({ max: 40 }) }),
  what: fc.constantFrom(...troubles),
});

const some = fc.oneof(
  { withCrossShrink: true },
  { weight: 3, arbitrary: fc.constant<Trouble[]>([]) },
  { weight: 2, arbitrary: trouble.map((one) => [one]) },
  { weight: 1, arbitrary: fc.array(trouble, { minLength: 2, maxLength: 3 }) },
);

const ways = [
  'answer lost',
  'answer slow',
  'passed on after 15 s',
  'passed on after 45 s',
  'passed on after 200 s',
  'passed on twice',
  'lost on the way',
  'not connected',
  '500 before the checks',
  '500 after the work',
  '429 for 20 s',
  '429 for 900 s',
  '401',
  '403',
  '404',
  '422',
  'hostile 500 after the work',
  'hostile 400',
  'hostile 201',
  'no JSON after the work',
  'answered after 9 s',
] as const satisfies Way[];

const way = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.constantFrom('answer lost', 'lost on the way', 'not connected', '403', ...ways.slice(2, 5)),
  },
  { weight: 1, arbitrary: fc.constantFrom(...ways) },
);

const detour = fc.record<Detour>({
  to: fc.constantFrom('defects/create', 'defects/update', ...destinations),
  way,
  body: fc.nat({ max: 6 }),
});

/** The sixty seconds and the six minutes are those of leases and of signatures. */
const seconds = fc.constantFrom(1, 5, 12, 16, 31, 46, 61, 91, 130, 200, 301, 361, 400, 900, 3_600, 86_400);

const told = {
  held: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  troubles: some,
};

const happens = fc.record({
  do: fc.constant('happens' as const),
  what: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom<Happening>('opened', 'edited title', 'edited body', 'transferred') },
    { weight: 1, arbitrary: fc.constantFrom(...happenings) },
  ),
  issue: fc.constantFrom(...ISSUES),
  ...told,
});
const asks = fc.record({
  do: fc.constant('asks' as const),
  from: fc.constantFrom('slack' as const, 'slack' as const, 'comment' as const, 'merge' as const),
  isDone: fc.boolean(),
  items: fc.constantFrom([103], [103], [103, 104]),
  ...told,
});
const relates = fc.record({
  do: fc.constant('relates' as const),
  which: place,
  to: fc.constantFrom('task' as const, 'step' as const),
  troubles: some,
});
const tests = fc.record({
  do: fc.constant('tests' as const),
  workflow: fc.constantFrom(...WORKFLOWS),
  hasFailed: fc.boolean(),
  isSameCommit: fc.boolean(),
  ...told,
});
const pulls = fc.record({
  do: fc.constant('pulls' as const),
  which: fc.nat({ max: 1 }),
  head: fc.nat({ max: 1 }),
  isTracked: fc.boolean(),
  isOpen: fc.constantFrom(true, true, false),
  ...told,
});

const action = fc.oneof<fc.MaybeWeightedArbitrary<Action>[]>(
  { weight: 7, arbitrary: happens },
  { weight: 3, arbitrary: asks },
  { weight: 1, arbitrary: relates },
  { weight: 2, arbitrary: tests },
  { weight: 2, arbitrary: pulls },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delivers' as const), which: place, troubles: some }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('commands' as const), again: fc.boolean(), troubles: some }) },
  {
    weight: 9,
    arbitrary: fc.record({ do: fc.constant('works' as const), lane: fc.nat({ max: 1 }), troubles: some }),
  },
  { weight: 5, arbitrary: fc.constant({ do: 'works off' as const }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('sweeps' as const), troubles: some }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('passes' as const), seconds }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('resumes' as const), which: place }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('redrives' as const), which: place }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('diverts' as const), detour }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('operates' as const),
      operation: fc.oneof(
        { weight: 3, arbitrary: fc.constantFrom<Operation>(...operations.slice(0, 5)) },
        { weight: 1, arbitrary: fc.constantFrom(...operations) },
      ),
      which: place,
      other: place,
      troubles: some,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('edits' as const),
      which: place,
      field: fc.constantFrom('title' as const, 'description' as const),
    }),
  },
  { weight: 8, arbitrary: fc.constant({ do: 'settles' as const, untilParked: false }) },
  { weight: 1, arbitrary: fc.constant({ do: 'hides issues' as const }) },
);

const divert = (to: Detour['to'], way: Way): Action => ({ do: 'diverts', detour: { to, way, body: 0 } });
const unclear = fc.constantFrom<Way>('passed on after 200 s', 'answer lost', 'lost on the way');
const stalls = fc.constantFrom<Trouble['what']>('stalls before', 'stalls after');

/** What hardly comes together by chance. */
const scenes = fc.oneof<fc.Arbitrary<Action[]>[]>(
  // A person decides about a creation while its request may still be carried out.
  fc
    .tuple(unclear, fc.constantFrom<Operation>('resolve --done', 'resolve --again', 'discard'))
    .map(([way, operation]) => [
      divert('defects/create', way),
      divert('defects/create', '403'),
      { do: 'commands', again: false, troubles: [] },
      { do: 'settles', untilParked: true },
      { do: 'operates', operation, which: -1, other: 0, troubles: [] },
    ]),
  // A second worker gets a job whose run stands still.
  fc.tuple(fc.nat({ max: 20 }), stalls, seconds).map(([at, what, seconds]) => [
    { do: 'works', lane: 0, troubles: [{ at, what }] },
    { do: 'passes', seconds },
    { do: 'redrives', which: -1 },
    { do: 'resumes', which: -1 },
  ]),
  // A creation without an answer is taken up late.
  fc
    .tuple(way, fc.constantFrom<Way>('429 for 20 s', '429 for 900 s', '500 before the checks'), seconds)
    .map(([way, later, seconds]) => [
      divert('defects/create', way),
      divert('defects/create', later),
      { do: 'commands', again: false, troubles: [] },
      { do: 'works off' },
      { do: 'passes', seconds },
    ]),
);

/** Few calls, so that a history of some minutes or days uses them up. */
const limits = fc.record({
  do: fc.constant('limits' as const),
  perMinute: fc.constantFrom(3, 5, 8, 20),
  perDay: fc.constantFrom(30, 100, 100_000),
  counting: fc.constantFrom(...countings),
});

/** Any action of a history can be left out, so that the rest shows what matters. */
export const histories = fc
  .tuple(
    fc.option(limits, { freq: 2 }),
    fc.array(fc.oneof({ weight: 12, arbitrary: action.map((one) => [one]) }, { weight: 1, arbitrary: scenes }), {
      minLength: 6,
      maxLength: 40,
      size: 'max',
    }),
  )
  .map(([limits, actions]) => [...(limits ? [limits] : []), BEGINNING, ...actions.flat()]);
