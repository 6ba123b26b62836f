import { isSilence } from '../../aws-limits.ts';
import { BaseUrlError } from '../../service/partner/base-url.ts';
import { SecretError } from '../../state/secrets/secrets.ts';
import { UnreadableItem } from '../../state/table/unreadable-item.ts';
import { LONGEST_SLEEP_MS } from '../line/queue.ts';
import { InLine, NeedsOperator, Refused, RetryAt, StepFailed } from '../record/interruption.ts';
import type { Job, Parked, ParkKind } from '../record/job.ts';
import { LeaseLost } from '../record/job-store.ts';
import type { Journal } from '../record/journal.ts';

/** How many failed steps park a job. With the pauses below, that takes about half an hour. */
export const MAX_ATTEMPTS = 8;
const FIRST_RETRY_MS = 2_000;

/** How a run of a job ended. */
export type Ending =
  | { ended: 'succeeded'; outcome: string; notDone: boolean }
  /** With the attempts if the last one failed. */
  | ({ ended: 'parked'; attempts?: number } & Parked)
  | { ended: 'waits'; wait: RetryAt | InLine; attempts: number };

/**
 * What an interruption means for the job.
 * @param bug gets an error of the relay's own code
 * @throws {LeaseLost}
 */
export function endingOf(
  job: Job,
  error: unknown,
  journal: Journal,
  { clock, random, bug }: { clock: () => number; random: () => number; bug: (error: unknown) => void },
): Ending {
  if (error instanceof LeaseLost) throw error;
  if (error instanceof RetryAt || error instanceof InLine)
    return { ended: 'waits', wait: error, attempts: job.attempts };
  if (error instanceof NeedsOperator || error instanceof UnreadableItem)
    return parked(error.message, error instanceof Refused ? 'refused' : 'needs an operator', journal);
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

/** Parks a job. What is unknown about its calls counts more than why it stopped. */
export function parked(reason: string, kind: ParkKind, journal: Journal): Ending & { ended: 'parked' } {
  return { ended: 'parked', reason, kind: journal.openSteps().length > 0 ? 'outcome unknown' : kind };
}

/** The delay quadruples with each attempt, up to ten minutes. Half of it is jitter. */
function retryPause(attempts: number, random: () => number): number {
  const longest = Math.min(FIRST_RETRY_MS * 4 ** (attempts - 1), LONGEST_SLEEP_MS);
  return longest / 2 + (random() * longest) / 2;
}
