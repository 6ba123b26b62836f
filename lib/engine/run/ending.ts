import { isSilence } from '../../aws-limits.ts';
import { LONGEST_SLEEP_MS } from '../../config/queues.ts';
import { BaseUrlError } from '../../service/partner/base-url.ts';
import { operations } from '../../service/partner/operations/operations.ts';
import { SecretError } from '../../state/secrets/secrets.ts';
import { WAITS_FOR_NEWER_MS } from '../../state/table/form.ts';
import { NewerItem, UnreadableItem } from '../../state/table/unreadable-item.ts';
import { InLine, NeedsAnswer, NeedsOperator, Refused, RetryAt, StepFailed } from '../record/interruption.ts';
import type { Job, Parked, ParkKind } from '../record/job.ts';
import { LeaseLost } from '../record/job-store.ts';
import type { Journal } from '../record/journal.ts';
import { openOutcomeOf } from '../record/open-outcome.ts';
import { asInterruption } from './as-interruption.ts';
import type { JobSteps } from './job-steps.ts';

/** How many failed attempts park a job. With the pauses below, that takes about half an hour. */
export const MAX_ATTEMPTS = 8;
const FIRST_RETRY_MS = 2_000;

export type Ending =
  | { ended: 'succeeded' | 'not-done'; outcome: string }
  /** Has `attempts` if the last attempt failed. */
  | ({ ended: 'parked'; attempts?: number } & Parked)
  | { ended: 'waits'; wait: RetryAt | InLine; attempts: number; isForNewer?: true };

/**
 * Returns how a run ends, from what it threw.
 * @param bug gets an error of the relay's own code
 * @throws {LeaseLost}
 */
export function endingOf(
  job: Job,
  thrown: unknown,
  journal: Journal,
  { clock, random, bug }: { clock: () => number; random: () => number; bug: (error: unknown) => void },
): Ending {
  const error = asInterruption(thrown, clock());
  if (error instanceof LeaseLost) throw error;
  if (error instanceof RetryAt || error instanceof InLine)
    return { ended: 'waits', wait: error, attempts: job.attempts };
  if (error instanceof NewerItem) return unread(job, error, journal.openSteps().length > 0, clock());
  if (error instanceof NeedsOperator || error instanceof UnreadableItem) {
    // No status: nothing was sent.
    const kind = error instanceof Refused && error.refusal.status ? 'refused' : 'needs an operator';
    return { ...parked(error.message, kind, journal), ...(error instanceof NeedsAnswer && { asks: true }) };
  }
  const silent = isSilence(error) ? 'AWS does not answer' : undefined;
  const foreseen = error instanceof StepFailed || error instanceof SecretError || error instanceof BaseUrlError;
  if (!foreseen && silent === undefined) bug(error);
  const why = silent ?? (foreseen ? error.message : `unexpected: ${String(error)}`);
  const attempts = job.attempts + 1;
  if (attempts >= MAX_ATTEMPTS) return { ...parked(`${why} (${attempts} attempts)`, 'failed', journal), attempts };
  const retryAt = clock() + retryPause(attempts, random);
  const dueAt = error instanceof StepFailed ? Math.max(retryAt, error.notBefore) : retryAt;
  const waitsFor = error instanceof StepFailed ? error.waitsFor : 'retry';
  return { ended: 'waits', wait: new RetryAt(dueAt, why, { waitsFor }), attempts };
}

const ASKS_NEWER_EVERY_MS = 4 * 60_000;

/** Returns how a run ends if an item of its job is unreadable. An item of a newer version makes the job wait. */
export function unread(job: Job, error: UnreadableItem, isOpen: boolean, now: number): Ending {
  const { message } = error;
  const { waits, gotOn } = job;
  // Not counted from the job's creation, because the job may have been in line before, or parked and replayed.
  const first = waits?.newest.find(({ why, from }) => why === message && from >= (gotOn?.at ?? 0))?.from ?? now;
  if (error instanceof NewerItem && now < first + WAITS_FOR_NEWER_MS) {
    const wait = new RetryAt(now + ASKS_NEWER_EVERY_MS, message, { releasesQueueGroup: true, waitsFor: 'operator' });
    return { ended: 'waits', wait, attempts: job.attempts, isForNewer: true };
  }
  return { ended: 'parked', reason: message, kind: isOpen ? 'outcome unknown' : 'needs an operator' };
}

/** Parks a job. An unknown outcome of its calls matters more than `kind`, unless an operator has decided about it. */
export function parked(reason: string, kind: ParkKind, journal: Journal): Ending & { ended: 'parked' } {
  const open = openOutcomeOf(journal, journal.undecidedSteps());
  return open ? { ended: 'parked', reason, kind: 'outcome unknown', open } : { ended: 'parked', reason, kind };
}

/** Returns the pause before a retry. It quadruples with each attempt, up to ten minutes; half of it is random. */
function retryPause(attempts: number, random: () => number): number {
  const longest = Math.min(FIRST_RETRY_MS * 4 ** (attempts - 1), LONGEST_SLEEP_MS);
  return longest / 2 + (random() * longest) / 2;
}

/** How often a job may be sent again without long waits, because several short waits in a row are normal. */
const FREE_SENDS = 20;
/**
 * The waiting time that allows one more send. Repeated waits are never shorter: the shortest are 5 s, for the first
 * time entry, and where Slack or GitHub asks for less.
 */
const EXPLAINS_ONE_MS = 4_000;

/**
 * Finds jobs in a loop: those sent again much more often than their waits explain. Lambda's own loop detection is off,
 * because one job's worker sends the message of the next (infra/job-worker.ts).
 *
 * @param now epoch milliseconds
 * @returns how often the job was sent since its last progress, if that is too often
 */
export function sentTooOften({ generation, createdAt, gotOn }: Job, now: number): number | undefined {
  const since = gotOn ?? { generation: 1, at: createdAt };
  const sends = generation - since.generation;
  const explained = Math.max(0, now - since.at) / EXPLAINS_ONE_MS;
  return sends > FREE_SENDS + explained ? sends : undefined;
}

/** After this many crashes in a row without progress, a job would crash its worker again. */
const MOST_CRASHES = 3;
/** The limit if the job must first settle open creations. */
const MOST_WITH_SETTLING = 8;

/**
 * True if the job's last runs crashed in a row without an entry in the journal. An entry about a failed step is no
 * progress.
 */
export function crashesInVain({ crashes = [] }: Pick<Job, 'crashes'>, journal: Journal): boolean {
  const since = crashes.at(-MOST_CRASHES);
  const entries = journal.entries().filter(({ status }) => status !== 'failed');
  return since !== undefined && entries.every(({ startedAt, finishedAt = startedAt }) => finishedAt < since);
}

/**
 * Parks a job that keeps crashing its worker. Does not run its automation, but first settles its open creations: sends
 * them again, or searches for them.
 * @throws {NeedsOperator} in the end
 */
export async function parkCrashed({ crashes = [] }: Job, journal: Journal, steps: JobSteps): Promise<never> {
  if (crashes.length < MOST_WITH_SETTLING) {
    for (const step of journal.undecidedSteps()) {
      const operation = operations.get(journal.openRequest(step)?.operation ?? '');
      // The payload is in the journal.
      if (operation) await steps.create(step, operation, {});
    }
  }
  throw new NeedsOperator(`the worker crashed ${crashes.length} times in a row on this job, which made no progress`);
}
