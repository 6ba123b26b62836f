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

/** How many failed steps park a job. With the pauses below, that takes about half an hour. */
export const MAX_ATTEMPTS = 8;
const FIRST_RETRY_MS = 2_000;

export type Ending =
  | { ended: 'succeeded' | 'not-done'; outcome: string }
  /** With the attempts if the last one failed. */
  | ({ ended: 'parked'; attempts?: number } & Parked)
  | { ended: 'waits'; wait: RetryAt | InLine; attempts: number; isForNewer?: true };

/**
 * What an interruption means for the job.
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
  if (error instanceof NeedsOperator || error instanceof UnreadableItem)
    return {
      ...parked(error.message, error instanceof Refused ? 'refused' : 'needs an operator', journal),
      ...(error instanceof NeedsAnswer && { asks: true }),
    };
  const silent = isSilence(error) ? 'AWS does not answer' : undefined;
  const foreseen = error instanceof StepFailed || error instanceof SecretError || error instanceof BaseUrlError;
  if (!foreseen && silent === undefined) bug(error);
  const why = silent ?? (foreseen ? error.message : `unexpected: ${String(error)}`);
  const attempts = job.attempts + 1;
  if (attempts >= MAX_ATTEMPTS) return { ...parked(`${why} (${attempts} attempts)`, 'failed', journal), attempts };
  const retryAt = clock() + retryPause(attempts, random);
  const dueAt = error instanceof StepFailed ? Math.max(retryAt, error.notBefore) : retryAt;
  return { ended: 'waits', wait: new RetryAt(dueAt, why, { waitsFor: 'retry' }), attempts };
}

const ASKS_NEWER_EVERY_MS = 4 * 60_000;

/** What becomes of a job with a part that cannot be read. What a newer version wrote waits for that version. */
export function unread(job: Job, error: UnreadableItem, isOpen: boolean, now: number): Ending {
  const { message } = error;
  const { waits, gotOn } = job;
  // The job itself may be older: it was in the waiting line, or was parked and replayed.
  const first = waits?.newest.find(({ why, from }) => why === message && from >= (gotOn?.at ?? 0))?.from ?? now;
  if (error instanceof NewerItem && now < first + WAITS_FOR_NEWER_MS) {
    const wait = new RetryAt(now + ASKS_NEWER_EVERY_MS, message, { releasesQueueGroup: true });
    return { ended: 'waits', wait, attempts: job.attempts, isForNewer: true };
  }
  return { ended: 'parked', reason: message, kind: isOpen ? 'outcome unknown' : 'needs an operator' };
}

/** Parks a job. What is unknown about its calls counts more than why it stopped. */
export function parked(reason: string, kind: ParkKind, journal: Journal): Ending & { ended: 'parked' } {
  const open = openOutcomeOf(journal);
  return open ? { ended: 'parked', reason, kind: 'outcome unknown', open } : { ended: 'parked', reason, kind };
}

/** The delay quadruples with each attempt, up to ten minutes. Half of it is jitter. */
function retryPause(attempts: number, random: () => number): number {
  const longest = Math.min(FIRST_RETRY_MS * 4 ** (attempts - 1), LONGEST_SLEEP_MS);
  return longest / 2 + (random() * longest) / 2;
}

/** How often a job may be sent again, for any wait: several short waits in a row are usual. */
const FREE_SENDS = 20;
/**
 * The time that explains one more. No wait is shorter for long: the shortest are 5 s, for the first time entry, and where
 * Slack or GitHub asks for less.
 */
const EXPLAINS_ONE_MS = 4_000;

/**
 * Lambda's own guard against loops is off, because one job's worker sends the message of the next
 * (infra/job-worker.ts). A job that is sent again much more often than its waits explain is in a loop.
 *
 * @param now epoch milliseconds
 * @returns how often it was sent since it last got on, if that is too often
 */
export function sentTooOften({ generation, createdAt, gotOn }: Job, now: number): number | undefined {
  const since = gotOn ?? { generation: 1, at: createdAt };
  const sends = generation - since.generation;
  const explained = Math.max(0, now - since.at) / EXPLAINS_ONE_MS;
  return sends > FREE_SENDS + explained ? sends : undefined;
}

/** A job that crashes the worker this often in a row, and gets no further, would do so again. */
const MOST_CRASHES = 3;
/** The most if its open creations have to be settled first. */
const MOST_WITH_SETTLING = 8;

/**
 * True if the last runs of a job crashed one after the other, and none of them wrote an entry of the journal. That a step
 * has failed once more is no progress.
 */
export function crashesInVain({ crashes = [] }: Pick<Job, 'crashes'>, journal: Journal): boolean {
  const since = crashes.at(-MOST_CRASHES);
  const entries = journal.entries().filter(({ status }) => status !== 'failed');
  return since !== undefined && entries.every(({ startedAt, finishedAt = startedAt }) => finishedAt < since);
}

/**
 * Parks a job that crashes again and again. The automation does not run again, but what it has sent without a clear answer
 * is sent again and searched for.
 * @throws {NeedsOperator} in the end
 */
export async function parkCrashed({ crashes = [] }: Job, journal: Journal, steps: JobSteps): Promise<never> {
  if (crashes.length < MOST_WITH_SETTLING) {
    for (const step of journal.undecidedSteps()) {
      const operation = operations.get(journal.openRequest(step)?.operation ?? '');
      // Its payload is in the journal.
      if (operation) await steps.create(step, operation, {});
    }
  }
  throw new NeedsOperator(`the worker crashed ${crashes.length} times in a row on this job, which made no progress`);
}
