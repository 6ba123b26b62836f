import type { Waited, WaitsFor } from '../lib/engine/record/history.ts';
import { endedAt, isOver, type Job } from '../lib/engine/record/job.ts';
import type { StepEntry } from '../lib/engine/record/journal.ts';
import { operations } from '../lib/service/partner/operations/operations.ts';

/** What a job did, or waited for, during a time. */
export interface Period {
  /** The step of the period; undefined between steps. */
  step?: string;
  from: number;
  /** Undefined if the period has not ended. */
  to?: number;
  is: 'queue' | 'work' | 'budget' | 'flight' | 'retry' | 'answer' | 'sleep' | 'outage' | 'operator';
  why?: string;
}

/** A period that may overlap with others. At each moment, the last layer in the list counts. */
interface Layer extends Omit<Period, 'to'> {
  /** Infinity if it has not ended. */
  to: number;
}

/** A shorter time until a slot is that of asking for it. */
const LEAST_BUDGET_WAIT_MS = 1_000;

const WAITS: Readonly<Record<WaitsFor, Period['is']>> = {
  budget: 'budget',
  retry: 'retry',
  answer: 'answer',
  'late call': 'sleep',
  outage: 'outage',
  key: 'operator',
  job: 'sleep',
  question: 'operator',
  pause: 'sleep',
  operator: 'operator',
};

/**
 * What a job did at each moment, from its event until its end, in order and without gaps.
 * @param now epoch milliseconds; if the job has not ended, the last period lasts until then
 */
export function periodsOf(job: Job, steps: readonly StepEntry[], now: number): Period[] {
  const end = isOver(job) ? (endedAt(job) ?? now) : Number.POSITIVE_INFINITY;
  const layers: Layer[] = [
    { is: 'work', from: job.createdAt, to: end },
    ...steps.map(stepLayer),
    ...queued(job, steps, end),
    ...steps.flatMap((step) => pauseLayers(step, job.waits?.newest ?? [])),
    ...waits(job, steps),
    ...steps.flatMap(sendLayers),
  ];
  const moments = layers.flatMap(({ from, to }) => [from, to]).filter((at) => at >= job.createdAt && at < end);
  const starts = [...new Set(moments)].sort((a, b) => a - b);
  const periods: Period[] = [];
  for (const [index, from] of starts.entries()) {
    const to = starts[index + 1] ?? end;
    const layer = layers.findLast((layer) => layer.from <= from && layer.to > from);
    if (!layer) continue;
    const { is, step, why } = layer;
    const last = periods.at(-1);
    const goesOn = last?.is === is && last.step === step && last.why === why;
    if (goesOn) last.to = to;
    else periods.push({ is, from, to, ...(step !== undefined && { step }), ...(why !== undefined && { why }) });
  }
  return periods.map(({ to, ...period }) => (to === Number.POSITIVE_INFINITY ? period : { ...period, to: to ?? end }));
}

/** The times in the queue: after the event, and after an operator's decision, until the job did something. */
function queued(
  { createdAt, queuedAt = createdAt, status, waits }: Job,
  steps: readonly StepEntry[],
  end: number,
): Layer[] {
  const waited = waits?.newest ?? [];
  const acts = [
    ...steps.flatMap(({ startedAt, resumedAt = startedAt }) => [startedAt, resumedAt]),
    ...waited.map(({ from }) => from),
    // A worker has the job, but no step has begun.
    ...(status === 'running' ? [queuedAt] : []),
  ];
  const decided = waited.flatMap(({ for: kind, until }) => (kind === 'operator' && until !== undefined ? [until] : []));
  const again = status === 'queued' ? [queuedAt] : [];
  return [createdAt, ...decided, ...again].map((from) => ({
    is: 'queue',
    from,
    to: Math.min(...acts.filter((at) => at >= from), end),
  }));
}

/** The waits between runs. A step that was begun before one and has not ended after it waits itself. */
function waits({ waits, status, wakeAt, parked }: Job, steps: readonly StepEntry[]): Layer[] {
  const between = (waits?.newest ?? []).map(({ for: kind, from, until = Number.POSITIVE_INFINITY, why }) => {
    const own = steps.find(
      ({ startedAt, finishedAt = Number.POSITIVE_INFINITY }) => startedAt <= from && until <= finishedAt,
    );
    return { is: WAITS[kind], step: own?.step, from, to: until, why };
  });
  if (status !== 'parked') return between;
  return [...between, { is: 'operator', from: wakeAt, to: Number.POSITIVE_INFINITY, why: parked?.reason ?? '' }];
}

/** Only the sends of operations are recorded. Another step is one outward call: a comment, a message. */
function stepLayer({ step, calls, startedAt, finishedAt, sends }: StepEntry): Layer {
  const is = sends || operations.has(calls) ? 'work' : 'flight';
  return { is, step, from: startedAt, to: finishedAt ?? Number.POSITIVE_INFINITY };
}

/** The pauses between two sends of a step, until the next send or another wait. */
function pauseLayers({ step, sends }: StepEntry, waits: readonly Waited[]): Layer[] {
  const newest = sends?.newest ?? [];
  return newest.slice(1).map(({ askedAt, sameBytes, calls }, index) => {
    const next = calls === undefined ? 'it is sent again' : 'it is searched for';
    const { endedAt: from = askedAt, why = next } = newest[index] ?? {};
    const to = Math.min(askedAt, ...waits.map((wait) => wait.from).filter((begun) => begun >= from));
    const is = sameBytes || calls !== undefined ? 'answer' : 'retry';
    return { is, step, from, to, why: sameBytes ? 'the same request is sent again' : why };
  });
}

/** For each send of a step, the wait for its slot and the time until its answer. */
function sendLayers({ step, sends }: StepEntry): Layer[] {
  return (sends?.newest ?? []).flatMap(({ askedAt, grantedAt, sentAt, endedAt }): Layer[] => [
    ...(grantedAt - askedAt < LEAST_BUDGET_WAIT_MS
      ? []
      : [{ is: 'budget' as const, step, from: askedAt, to: grantedAt }]),
    { is: 'flight', step, from: sentAt, to: endedAt },
  ]);
}
