import fc from 'fast-check';
import { countings } from '../service/budget/service-model.ts';
import type { Way } from '../ways.ts';
import { type Happening, happenings, WORKFLOWS } from './github.ts';
import { type Trouble, troubles } from './process.ts';
import { type Detour, destinations } from './service.ts';

/** Most events are about the first issue. */
const ISSUES = [0, 0, 0, 1];

/** What an operator does about a job, an issue, or a backfill. */
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

/** How an event is delivered. A held delivery comes later, or at the end. */
export interface Told {
  held: boolean;
  troubles: Trouble[];
}

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
  '404 page after the work',
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

/** Sixty seconds are the lease, and eleven minutes the life of a signature. */
const seconds = fc.constantFrom<number>(
  1,
  5,
  12,
  16,
  31,
  46,
  61,
  91,
  130,
  200,
  301,
  601,
  661,
  900,
  3_600,
  7_200,
  86_400,
);

const told = {
  held: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  troubles: some,
};

function sometimes<Name extends string, Fields extends object>(
  weight: number,
  name: Name,
  fields: { [Field in keyof Fields]: fc.Arbitrary<Fields[Field]> },
) {
  const arbitrary = fc.record({ do: fc.constant(name), ...fields }) as unknown as fc.Arbitrary<{ do: Name } & Fields>;
  return { weight, arbitrary };
}

const action = fc.oneof(
  // An issue changes on GitHub.
  sometimes(7, 'happens', {
    what: fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom<Happening>('opened', 'edited title', 'edited body', 'transferred') },
      { weight: 1, arbitrary: fc.constantFrom(...happenings) },
    ),
    issue: fc.constantFrom(...ISSUES),
    ...told,
  }),
  // A person asks for checklist items in Slack, in a comment, or in the text of a merged pull request.
  sometimes(3, 'asks', {
    from: fc.constantFrom('slack', 'slack', 'comment', 'merge'),
    isDone: fc.boolean(),
    items: fc.constantFrom<readonly number[]>([103], [103], [103, 104]),
    ...told,
  }),
  // A person links a defect in Slack.
  sometimes(1, 'relates', { which: place, to: fc.constantFrom('task', 'step'), troubles: some }),
  // An event for the team's automations: from GitHub, from another tool, or from a person in Slack.
  sometimes(6, 'comes', {
    what: fc.constantFrom('release', 'alert', 'deploy', 'pick', 'fires', 'fires', 'is over'),
    ...told,
  }),
  // A person presses a button of a question, perhaps twice, or another person does.
  sometimes(2, 'presses', {
    which: fc.nat({ max: 2 }),
    choice: place,
    isAsked: fc.constantFrom(true, true, true, false),
    troubles: some,
  }),
  // The clock fires due schedules.
  sometimes(2, 'ticks', { troubles: some }),
  // A person answers a job's question.
  sometimes(2, 'answers', { which: place, troubles: some }),
  // A workflow run ends.
  sometimes(2, 'tests', {
    workflow: fc.constantFrom<string>(...WORKFLOWS),
    hasFailed: fc.boolean(),
    isSameCommit: fc.boolean(),
    ...told,
  }),
  // A pull request is opened or changed.
  sometimes(2, 'pulls', {
    which: fc.nat({ max: 1 }),
    head: fc.nat({ max: 1 }),
    isTracked: fc.boolean(),
    isOpen: fc.constantFrom(true, true, false),
    ...told,
  }),
  // A delivery arrives late or again; below 0, the last one that has not arrived.
  sometimes(2, 'delivers', { which: place, troubles: some }),
  // A person asks for a defect in Slack, or Slack repeats their last command.
  sometimes(2, 'commands', { again: fc.boolean(), troubles: some }),
  // The worker gets the next message.
  sometimes(9, 'works', { lane: fc.nat({ max: 1 }), troubles: some }),
  { weight: 5, arbitrary: fc.constant({ do: 'works off' as const }) },
  sometimes(2, 'sweeps', { troubles: some }),
  sometimes(5, 'passes', { seconds }),
  // A stalled process resumes.
  sometimes(2, 'resumes', { which: place }),
  // A message is delivered again; below 0, the last one.
  sometimes(1, 'redrives', { which: place }),
  sometimes(4, 'diverts', { detour }),
  sometimes(4, 'operates', {
    operation: fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom<Operation>(...operations.slice(0, 5)) },
      { weight: 1, arbitrary: fc.constantFrom(...operations) },
    ),
    which: place,
    other: place,
    troubles: some,
  }),
  // A person changes a defect in the service.
  sometimes(1, 'edits', { which: place, field: fc.constantFrom('title', 'description') }),
  // All work is done, to the end of all waits, or until a job is parked.
  { weight: 8, arbitrary: fc.constant({ do: 'settles' as const, untilParked: false as boolean }) },
  // GitHub no longer shows the issues, so the relay cannot tell which of two states of the same second is newer.
  { weight: 1, arbitrary: fc.constant({ do: 'hides issues' as const }) },
);

/** Low limits, so that a history of minutes or days uses them up. */
const limits = fc.record({
  do: fc.constant('limits' as const),
  perMinute: fc.constantFrom<number>(3, 5, 8, 20),
  perDay: fc.constantFrom<number>(30, 100, 100_000),
  counting: fc.constantFrom(...countings),
});

/**
 * An action on the relay or around it. If it does not apply at its moment, it does nothing. A history begins with the
 * service's limits; without them, it cannot reach the limits.
 */
export type Action = Generated<typeof action> | Generated<typeof limits>;
type Generated<Of> = Of extends fc.Arbitrary<infer One> ? One : never;

export const BEGINNING = { do: 'happens', what: 'opened', issue: 0, held: false, troubles: [] } satisfies Action;

const divert = (to: Detour['to'], way: Way): Action => ({ do: 'diverts', detour: { to, way, body: 0 } });
const unclear = fc.constantFrom<Way>('passed on after 200 s', 'answer lost', 'lost on the way');
const stalls = fc.constantFrom<Trouble['what']>('stalls before', 'stalls after');

/** Combinations that chance rarely produces. */
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
  // A second worker gets a job whose run has stalled.
  fc.tuple(fc.nat({ max: 20 }), stalls, seconds).map(([at, what, seconds]) => [
    { do: 'works', lane: 0, troubles: [{ at, what }] },
    { do: 'passes', seconds },
    { do: 'redrives', which: -1 },
    { do: 'resumes', which: -1 },
  ]),
  // A newer request for an item is carried out while the run of an older one is stalled.
  fc
    .tuple(fc.nat({ max: 20 }), stalls)
    .map(([at, what]) => [
      { do: 'works off' },
      { do: 'asks', from: 'slack', isDone: true, items: [103], held: false, troubles: [] },
      { do: 'works', lane: 0, troubles: [{ at, what }] },
      { do: 'asks', from: 'comment', isDone: false, items: [103], held: false, troubles: [] },
      { do: 'works off' },
      { do: 'resumes', which: -1 },
    ]),
  // Answers are lost, and the list that shows what was created fails, too.
  fc
    .tuple(unclear, fc.nat({ max: 40 }), fc.constantFrom<number>(1, 3, 5))
    .map(([way, failures, seconds]) => [
      ...Array.from({ length: 3 }, () => divert('defects/create', way)),
      ...Array.from({ length: failures }, () => divert('defects/list', '500 before the checks')),
      { ...BEGINNING, issue: 0 },
      { ...BEGINNING, issue: 1 },
      { do: 'commands', again: false, troubles: [] },
      ...Array.from({ length: 12 }, (): Action[] => [{ do: 'works off' }, { do: 'passes', seconds }]).flat(),
    ]),
  // A creation without an answer continues late.
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

/** Any action can be left out of a history, so that a shortened history shows what matters. */
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
