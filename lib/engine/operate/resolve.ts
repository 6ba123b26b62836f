import { randomUUID } from 'node:crypto';
import { localTime } from '../../dates.ts';
import { operations } from '../../service/partner/operations/operations.ts';
import { executableUntil } from '../../service/partner/signed-request.ts';
import type { Table } from '../../state/table/table.ts';
import { nextStep } from '../line/next-step.ts';
import { requeueJob, type SweepOptions } from '../line/sweep.ts';
import type { OperatorDecision } from '../record/history.ts';
import { isOutcomeUnknown, isOver, type Job, statusInWords } from '../record/job.ts';
import { LeaseLost } from '../record/job-store.ts';
import { type Journal, type OpenRequest, openJournal } from '../record/journal.ts';
import type { Created } from '../run/job-steps.ts';
import type { VerifyCreated } from './verify-created.ts';

/** A person's decision about a creation with an unknown outcome. */
export type Resolution = FinalResolution | 'search';

type FinalResolution = { done: string | number; verify: VerifyCreated } | 'again';

export interface ResolveOptions extends SweepOptions {
  table: Table;
  clock: () => number;
  /** The operator. */
  by: string;
}

/**
 * Continues a job that is parked because the outcome of a creating step is unknown. It continues with the id of the
 * created object, or searches once more; for `again`, it creates the object if the search finds nothing.
 *
 * @returns the queued job
 * @throws {Error} if the job is in another state, for an id that {@link VerifyCreated} refuses, if another operator has
 * decided meanwhile, or for `again` while the same bytes can still be executed
 */
export async function resolveJob(job: Job, resolution: Resolution, options: ResolveOptions): Promise<Job> {
  if (job.status !== 'parked' || !isOutcomeUnknown(job)) throw cannotBe('resolved', job, options.clock());
  if (resolution === 'search' && !isSought(job)) throw cannotBe('resolved by a search', job, options.clock());
  // A job with an open creation begins with the search.
  if (resolution !== 'search') await writeOutcomes(job, await checkedOutcomes(job, resolution, options), options);
  const decision: Pick<OperatorDecision, 'what' | 'reason'> =
    typeof resolution === 'string'
      ? { what: resolution === 'again' ? 'resolved: create again' : 'resolved: search once more' }
      : { what: 'resolved with an id', reason: `created ${resolution.done}` };
  return queuedBy({ at: options.clock(), by: options.by, ...decision }, job, options);
}

/** False if another run cannot settle what the job created, because nothing finds it. */
export const isSought = ({ parked }: Job): boolean => parked?.open?.isSought !== false;

/** Queues the job after an operator's decision. @throws {Error} if the job has changed since it was read */
export async function queuedBy(decision: OperatorDecision, job: Job, options: SweepOptions): Promise<Job> {
  const queued = await requeueJob(job, options, decision);
  if (queued) return queued;
  throw justChanged(job);
}

/** Returns the error that says why an operator cannot decide this, and what they can do instead. */
export function cannotBe(decided: string, job: Job, now: number): Error {
  const next = nextStep(job, localTime, now)?.text;
  return new Error(`${job.id} cannot be ${decided}: ${whyNot(decided, job)}${next === undefined ? '' : `. ${next}`}`);
}

function whyNot(decided: string, job: Job): string {
  const { status, openUntil } = job;
  if (isOver(job)) return `it has already ${status === 'succeeded' ? 'succeeded' : `ended as ${statusInWords(job)}`}`;
  if (status === 'parked')
    return isSought(job) ? 'its outcome is known' : 'the relay cannot search for what it created';
  if (status === 'waiting' && openUntil !== undefined)
    return 'the relay first has to find out whether the service created something for it';
  if (status === 'waiting' && decided === 'discarded')
    return 'of waiting jobs, only those of a backfill and of your own automations can';
  return `it is ${status}`;
}

const justChanged = ({ id }: Job) => new Error(`${id} has just changed; check it and try again`);

/** Returns the open steps with the ids of the created objects, or with `again`. Writes nothing. */
async function checkedOutcomes(
  job: Job,
  resolution: FinalResolution,
  { table, clock }: ResolveOptions,
): Promise<Map<string, Created['id'] | 'again'>> {
  const outcomes = new Map<string, Created['id'] | 'again'>();
  const journal = await openJournal(table, job.id, clock);
  if (journal.openSteps().length === 0) verifyIsSame(job, resolution, journal);
  for (const step of journal.openSteps()) {
    const open = journal.openRequest(step);
    if (!open) continue;
    if (resolution === 'again') {
      verifyIsOver(job, open, clock());
      outcomes.set(step, 'again');
      continue;
    }
    const id = await resolution.verify({
      connection: job.connection,
      operation: open.operation,
      scope: open.found?.scope ?? {},
      marker: open.found?.marker,
      id: resolution.done,
    });
    outcomes.set(step, id);
  }
  return outcomes;
}

/**
 * Checks a job without open steps: an earlier identical decision may have stopped before it queued the job.
 * @throws {Error} if the earlier decision was another one
 */
function verifyIsSame({ id }: Job, resolution: FinalResolution, journal: Journal): void {
  for (const { status, calls, result } of journal.entries()) {
    if (status !== 'done' || !operations.get(calls)?.createdId) continue;
    const created = (result as Created).id;
    if (resolution === 'again' || String(resolution.done) !== String(created))
      throw new Error(`${calls} of ${id} is done already: it created ${created}`);
  }
}

/**
 * Writes the decision. The check before may take minutes, in which another operator may decide and a worker may run the
 * job. The decision therefore takes over the open requests as a worker does, and only while the job is unchanged.
 */
async function writeOutcomes(
  job: Job,
  outcomes: ReadonlyMap<string, Created['id'] | 'again'>,
  { table, clock, jobs, by }: ResolveOptions,
): Promise<void> {
  const isHeld = async () => {
    const now = await jobs.get(job.id);
    return now?.status === job.status && now.generation === job.generation;
  };
  try {
    if (!(await isHeld())) throw justChanged(job);
    const journal = await openJournal(table, job.id, clock, { owner: randomUUID(), isHeld });
    for (const [step, outcome] of outcomes) {
      const open = journal.openRequest(step);
      if (!open) throw justChanged(job);
      await journal.keepRequest(step, outcome === 'again' ? { ...open, again: true } : open);
      if (outcome === 'again') continue;
      const now = clock();
      const { calls, startedAt, sends } = journal.entry(step) ?? { calls: open.operation, startedAt: now };
      const result: Created = { id: outcome, sent: open.sent, thing: open.thing };
      const settledBy = `${by} found what was created`;
      const times = { startedAt, resumedAt: now, finishedAt: now };
      await journal.write({ step, calls, status: 'done', ...times, sends, result, settledBy });
      await journal.dropRequest(step);
    }
  } catch (error) {
    throw error instanceof LeaseLost ? justChanged(job) : error;
  }
}

/** @throws {Error} while the service can still execute the request */
export function verifyIsOver({ id }: Job, { request, operation }: OpenRequest, now: number): void {
  const until = executableUntil(request.signedAt);
  if (now >= until) return;
  throw new Error(`${id} has to wait until ${localTime(until)}: the service may still carry out ${operation}`);
}
