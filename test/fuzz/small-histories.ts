import type { Way } from '../ways.ts';
import type { Happening } from './github.ts';
import { type Action, BEGINNING, type Operation } from './history.ts';
import type { Trouble } from './process.ts';

const happens = (what: Happening, held = false): Action => ({ do: 'happens', what, issue: 0, held, troubles: [] });
const divert = (way: Way): Action => ({ do: 'diverts', detour: { to: 'defects/create', way, body: 0 } });
const operate = (operation: Operation, troubles: Trouble[] = []): Action => {
  return { do: 'operates', operation, which: 0, other: 0, troubles };
};
const worksOff: Action = { do: 'works off' };
const delivers = (which: number): Action => ({ do: 'delivers', which, troubles: [] });
const editsTitle: Action = { do: 'edits', which: 0, field: 'title' };
const pulls = (head: number): Action => {
  return { do: 'pulls', which: 0, head, isTracked: false, isOpen: true, held: false, troubles: [] };
};
const comes = (what: (Action & { do: 'comes' })['what'], held = false): Action => ({
  do: 'comes',
  what,
  held,
  troubles: [],
});
const commands: Action = { do: 'commands', again: false, troubles: [] };
const settles: Action = { do: 'settles', untilParked: false };
const passes = (seconds: number): Action => ({ do: 'passes', seconds });
const MONTH_SECONDS = 31 * 86_400;

/** The troubles of the first job, and its state after them. */
const delays: Readonly<Record<string, readonly Action[]>> = {
  none: [],
  'waits in the queue': [divert('429 for 20 s'), worksOff],
  'waits outside the queue': [divert('429 for 900 s'), worksOff],
  'sends the same bytes again': [divert('answer lost'), divert('500 before the checks'), worksOff],
  'searches for what it made': [divert('passed on after 15 s'), divert('403'), worksOff, passes(31)],
  'parked by 403': [divert('403'), worksOff],
  'parked, outcome unknown': [divert('lost on the way'), divert('422'), settles],
};

/** When a later event comes, relative to the first event's job. */
type Stage = 'before' | 'delayed' | 'ended' | 'expired';

const later: readonly Happening[] = ['edited title', 'unlabeled', 'labeled', 'closed', 'reopened', 'transferred'];

function sequences(length: number): Happening[][] {
  if (length === 0) return [[]];
  return sequences(length - 1).flatMap((start) =>
    later.filter((what) => canFollow(start, what)).map((what) => [...start, what]),
  );
}

/** Whether GitHub would send this event: it sends none for an unchanged issue. */
function canFollow(start: readonly Happening[], what: Happening): boolean {
  const last = (...pair: Happening[]) => start.findLast((one) => pair.includes(one));
  if (what === 'labeled') return last('labeled', 'unlabeled') === 'unlabeled';
  if (what === 'unlabeled') return last('labeled', 'unlabeled') !== 'unlabeled';
  if (what === 'reopened') return last('closed', 'reopened') === 'closed';
  return what !== 'closed' || last('closed', 'reopened') !== 'closed';
}

function* staged(sequence: readonly Happening[], delay: string): Generator<Action[]> {
  const disturbed = delays[delay] ?? [];
  const stages: Stage[] = delay === 'none' ? ['before', 'ended', 'expired'] : ['delayed', 'ended', 'expired'];
  for (const stage of stages) {
    const before = stage === 'before' ? [] : stage === 'delayed' ? disturbed : [...disturbed, settles];
    const pause = stage === 'expired' ? [passes(MONTH_SECONDS)] : [];
    const start = [happens('opened'), ...before, ...pause];
    yield [...start, ...sequence.map((what) => happens(what))];
    yield [...start, ...sequence.flatMap((what) => [happens(what), settles])];
    // A single event has no other order.
    if (sequence.length === 1) continue;
    const lastFirst = [delivers(-1), worksOff];
    yield [...start, ...sequence.map((what) => happens(what, true)), ...lastFirst, ...lastFirst, ...lastFirst];
  }
}

/** Every sequence of events at every stage of the first job, with each reason for its delay. */
export function* smallHistories(events: number): Generator<Action[]> {
  for (const sequence of sequences(events)) {
    for (const delay of Object.keys(delays)) yield* staged(sequence, delay);
  }
}

const decisions: readonly Operation[] = ['replay', 'resolve --done', 'resolve --again', 'resolve --search', 'discard'];

/** The shortest histories of random runs that showed a mistake, which has been repaired since. */
export const foundHistories: Readonly<Record<string, readonly Action[]>> = {
  'an older event of the same second comes again after the issue was deleted': [
    happens('opened'),
    happens('edited title'),
    worksOff,
    editsTitle,
    happens('deleted'),
    delivers(0),
  ],
  'an older event of the same second comes again before a transfer is told': [
    happens('opened'),
    happens('edited title'),
    settles,
    editsTitle,
    { ...BEGINNING, issue: 1, troubles: [{ at: 0, what: 'dies before' }] },
    happens('transferred', true),
    delivers(3),
    settles,
  ],
  'a job that names two defects is being discarded when the next event comes': [
    happens('opened'),
    happens('transferred', true),
    happens('transferred'),
    worksOff,
    delivers(0),
    settles,
    operate('discard', [{ at: 1, what: 'dies after' }]),
  ],
  'a worker stalls beyond its lease right before it tells a person': [
    commands,
    divert('429 for 900 s'),
    worksOff,
    passes(3_600),
    { do: 'sweeps', troubles: [] },
    { do: 'works', lane: 0, troubles: [{ at: 17, what: 'stalls after' }] },
    passes(200),
    { do: 'sweeps', troubles: [] },
    worksOff,
    { do: 'resumes', which: 0 },
  ],
  'a worker stalls for an hour before it notes that its call got no answer': [
    happens('opened'),
    settles,
    { do: 'diverts', detour: { to: 'defects/update', way: 'answer lost', body: 0 } },
    passes(1),
    { do: 'sweeps', troubles: [{ at: 0, what: 'dies before' }] },
    happens('edited body'),
    { do: 'works', lane: 0, troubles: [{ at: 17, what: 'stalls before' }] },
    passes(3_600),
    { do: 'redrives', which: -1 },
  ],
  'a worker stalls while it claims a job, until the job has ended': [
    happens('opened'),
    { do: 'works', lane: 0, troubles: [{ at: 0, what: 'takes 65 s' }] },
    { do: 'works', lane: 0, troubles: [{ at: 1, what: 'stalls before' }] },
    settles,
    happens('edited body'),
    { do: 'resumes', which: 0 },
  ],
  'a worker stalls beyond its lease while it fetches test results': [
    happens('opened'),
    settles,
    { do: 'tests', workflow: 'ci.yml', hasFailed: false, isSameCommit: false, held: false, troubles: [] },
    { do: 'works', lane: 0, troubles: [{ at: 11, what: 'stalls after' }] },
    passes(65),
  ],
  'a worker stalls beyond its lease between its look for a check and the check': [
    pulls(1),
    settles,
    pulls(0),
    { do: 'works', lane: 0, troubles: [{ at: 6, what: 'stalls after' }] },
    passes(200),
    { do: 'redrives', which: -1 },
  ],
  'a worker stalls between its look at the age of a request and the resend': [
    happens('opened'),
    worksOff,
    divert('answer slow'),
    commands,
    worksOff,
    passes(200),
    { do: 'works', lane: 0, troubles: [{ at: 4, what: 'stalls before' }] },
    passes(46),
  ],
  'a worker stalls beyond its lease while it reads the token for a message': [
    { do: 'asks', from: 'slack', isDone: false, items: [103], held: true, troubles: [] },
    happens('edited title'),
    comes('release'),
    { do: 'works', lane: 0, troubles: [{ at: 0, what: 'stalls after' }] },
    { do: 'redrives', which: -1 },
    { do: 'resumes', which: -1 },
    { do: 'works', lane: 0, troubles: [] },
    { do: 'works', lane: 0, troubles: [{ at: 14, what: 'stalls before' }] },
    passes(61),
    { do: 'redrives', which: -1 },
  ],
  'a worker stalls beyond its lease before it claims a key again, for which the next run has sent a request': [
    happens('opened'),
    { do: 'works', lane: 1, troubles: [] },
    comes('fires'),
    {
      do: 'asks',
      from: 'merge',
      isDone: true,
      items: [103, 104],
      held: false,
      troubles: [{ at: 0, what: 'stalls before' }],
    },
    {
      do: 'works',
      lane: 0,
      troubles: [
        { at: 11, what: 'stalls before' },
        { at: 19, what: 'stalls before' },
      ],
    },
    { do: 'resumes', which: 1 },
    divert('answer slow'),
    comes('alert'),
    passes(301),
    comes('fires', true),
    worksOff,
  ],
  'an operator replays a job that asks a question, without an answer': [
    happens('opened'),
    comes('deploy'),
    worksOff,
    operate('replay'),
    worksOff,
  ],
  'an operator dies between the decision that a creation is done and the message of its job': [
    happens('opened'),
    divert('passed on after 200 s'),
    divert('403'),
    settles,
    operate('resolve --done', [{ at: 9, what: 'dies before' }]),
  ],
};

/** Two operators decide about one parked job, while the first one's command is stalled at one of its requests. */
export function* twoOperators(requests: number): Generator<Action[]> {
  for (const way of ['403', 'lost on the way', 'answer lost'] as const) {
    const parked = [
      happens('opened'),
      divert(way),
      divert('422'),
      ...(way === 'answer lost' ? lostToTheEnd : []),
      settles,
      passes(301),
    ];
    for (const one of decisions) {
      for (const other of decisions) {
        for (let at = 0; at < requests; at++) {
          const first = operate(one, [{ at, what: at % 2 === 0 ? 'stalls before' : 'stalls after' }]);
          yield [...parked, first, operate(other), worksOff, { do: 'resumes', which: 0 }, happens('edited title')];
        }
      }
    }
  }
}

/** No search finds the created object. */
const lostToTheEnd: readonly Action[] = Array.from({ length: 12 }, () => {
  return { do: 'diverts', detour: { to: 'defects/list', way: 'lost on the way', body: 0 } } as const;
});
