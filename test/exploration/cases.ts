import type { Fault } from '../../sandbox/faults.ts';

/** What happens to an issue on GitHub, or between GitHub and the relay. */
export const happenings = [
  'opened',
  'labeled',
  'unlabeled',
  'edited',
  'closed',
  'reopened',
  'transferred',
  'the same again',
] as const;
export type Happening = (typeof happenings)[number];

/** Why the first job, which creates, cannot end at once, and where that leaves it. */
export const delays = ['waiting', 'request open', 'parked by 403', 'parked, outcome unknown'] as const;
export type Delay = (typeof delays)[number];

/** When a later event arrives in the life of the first job. */
export type Stage = 'before' | 'delayed' | 'ended' | 'expired';

export interface Case {
  /** The first event comes before its job; each later one at a stage, none before the one ahead of it. */
  events: readonly { what: Happening; stage: Stage }[];
  /** What the first job runs into. Undefined: nothing. */
  delay: Delay | undefined;
  /** Befalls a request once, while the rest goes well. */
  fault: Fault | undefined;
}

/**
 * Every kind of fault at every moment, befalling one request. Left out is latency: a call that takes longer than its
 * time-out is for the relay the same as one that is cut.
 */
export const faults: readonly Fault[] = [
  ...(['cut', 'server-error'] as const).flatMap((kind) =>
    (['on arrival', 'before work', 'after work'] as const).map((when): Fault => ({ kind, when, times: 1 })),
  ),
  ...(['rate-limited', 'maintenance', 'login-redirect', 'empty-body', 'not-json', 'key-revoked'] as const).map(
    (kind): Fault => ({ kind, times: 1 }),
  ),
  { kind: 'clock-skew', seconds: -1_200, times: 1 },
];

/**
 * Without those that are the same case as another: the relay reads a maintenance page and a login page as one outcome,
 * and so it does an empty body and one that is not JSON (lib/jobs/decide.ts), and the service does the same in both.
 */
export const distinctFaults = faults.filter(({ kind }) => kind !== 'login-redirect' && kind !== 'not-json');

interface Issue {
  isBug: boolean;
  isClosed: boolean;
  isTransferred: boolean;
}

/** What can happen to an issue next: GitHub tells no change that is none. An issue is transferred once at most. */
function canHappen(what: Happening, { isBug, isClosed, isTransferred }: Issue, isFirst: boolean): boolean {
  switch (what) {
    case 'labeled':
      return !isBug;
    case 'unlabeled':
      return isBug;
    case 'closed':
      return !isClosed;
    case 'reopened':
      return isClosed;
    case 'transferred':
      return !isTransferred;
    case 'the same again':
      return !isFirst;
    default:
      return true;
  }
}

export function after(what: Happening, issue: Issue, isFirst: boolean): Issue {
  switch (what) {
    case 'opened':
      // RetryAt on, it is the late delivery of how the issue began.
      return isFirst ? { ...issue, isBug: true } : issue;
    case 'labeled':
    case 'unlabeled':
      return { ...issue, isBug: what === 'labeled' };
    case 'closed':
    case 'reopened':
      return { ...issue, isClosed: what === 'closed' };
    case 'transferred':
      return { ...issue, isTransferred: true };
    default:
      return issue;
  }
}

export const begun: Issue = { isBug: false, isClosed: false, isTransferred: false };

/** All sequences of that length that GitHub can bring about. */
export function sequences(length: number): Happening[][] {
  const grow = (start: Happening[], issue: Issue): Happening[][] =>
    start.length === length
      ? [start]
      : happenings
          .filter((what) => canHappen(what, issue, start.length === 0))
          .flatMap((what) => grow([...start, what], after(what, issue, start.length === 0)));
  return grow([], begun);
}

/** All stages for so many events, in order of time. */
function stagesOf(count: number, from: readonly Stage[]): Stage[][] {
  if (count === 0) return [[]];
  return from.flatMap((stage, at) => stagesOf(count - 1, from.slice(at)).map((rest) => [stage, ...rest]));
}

/**
 * A sequence at every stage. Pruned is what is the same case by construction: without an event that comes while the
 * first job is delayed, the delay is a fault like any other, and a first job that does not create cannot be delayed.
 */
export function* staged(sequence: readonly Happening[]): Generator<Omit<Case, 'fault'>> {
  const [first] = sequence;
  const creates = first === 'opened' || first === 'labeled';
  for (const delay of [undefined, ...(creates ? delays : [])]) {
    const stages: Stage[] = delay ? ['before', 'delayed', 'ended', 'expired'] : ['before', 'ended', 'expired'];
    for (const chosen of stagesOf(sequence.length - 1, stages)) {
      if (delay && !chosen.includes('delayed')) continue;
      yield { delay, events: sequence.map((what, at) => ({ what, stage: chosen[at - 1] ?? 'before' })) };
    }
  }
}
