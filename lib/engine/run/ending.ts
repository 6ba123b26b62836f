import { BaseUrlError } from '../../service/partner/base-url.ts';
import { SecretError } from '../../state/secrets/secrets.ts';
import { UnreadableItem } from '../../state/table/unreadable-item.ts';
import { LONGEST_SLEEP_MS } from '../line/queue.ts';
import type { WaitsFor } from '../record/history.ts';
import { InLine, NeedsOperator, Refused, RetryAt, StepFailed } from '../record/interruption.ts';
import type { Job, ParkKind } from '../record/job.ts';
import { LeaseLost } from '../record/job-store.ts';
import type { Journal } from '../record/journal.ts';
import type { Worker } from './worker.ts';

/** How many failed steps park a job. With the pauses below, that takes about half an hour. */
export const MAX_ATTEMPTS = 8;
const FIRST_RETRY_MS = 2_000;

/** How a run of a job ended. */
export type Ending =
  | { ended: 'succeeded'; outcome: string; notDone: boolean }
  | ParkedEnding
  | ({ ended: 'in line'; expectedAt: number | undefined; operation: string | undefined } & Pause)
  | ({
      ended: 'not yet';
      dueAt: number;
      releasesQueueGroup?: boolean;
    } & Pause);

export interface ParkedEnding {
  ended: 'parked';
  reason: string;
  kind: ParkKind;
  outcomeUnknown: boolean;
  /** If the last attempt failed. */
  attempts?: number;
}

interface Pause {
  waitsFor: WaitsFor;
  why: string;
  attempts: number;
}

/** What an interruption means for the job. @throws {LeaseLost} */
export function endingOf(
  job: Job,
  error: unknown,
  journal: Journal,
  { clock, random, report }: Pick<Worker, 'clock' | 'random' | 'report'>,
): Ending {
  if (error instanceof LeaseLost) throw error;
  if (error instanceof RetryAt) {
    const { dueAt, message: why, releasesQueueGroup, waitsFor } = error;
    return { ended: 'not yet', dueAt, why, waitsFor, attempts: job.attempts, releasesQueueGroup };
  }
  if (error instanceof InLine) {
    const { expectedAt, message: why, waitsFor, operation } = error;
    return { ended: 'in line', expectedAt, operation, why, waitsFor, attempts: job.attempts };
  }
  if (error instanceof NeedsOperator || error instanceof UnreadableItem)
    return parked(error.message, error instanceof Refused ? 'refused' : 'needs an operator', journal);
  const foreseen = error instanceof StepFailed || error instanceof SecretError || error instanceof BaseUrlError;
  if (!foreseen) report({ news: 'bug', job, error });
  const why = foreseen ? error.message : `unexpected: ${String(error)}`;
  const attempts = job.attempts + 1;
  if (attempts >= MAX_ATTEMPTS) return { ...parked(`${why} (${attempts} attempts)`, 'failed', journal), attempts };
  const retryAt = clock() + retryPause(attempts, random);
  const dueAt = error instanceof StepFailed ? Math.max(retryAt, error.notBefore) : retryAt;
  return { ended: 'not yet', dueAt, why, waitsFor: 'retry', attempts };
}

/** Parks a job. What is unknown about its calls counts more than why it stopped. */
export function parked(reason: string, kind: ParkKind, journal: Journal): ParkedEnding {
  const outcomeUnknown = journal.openSteps().length > 0;
  return { ended: 'parked', reason, kind: outcomeUnknown ? 'outcome unknown' : kind, outcomeUnknown };
}

/** Nothing can be sent, or be told to the person who asked, without the journal. */
export function parkedUnread({ message: reason }: UnreadableItem): ParkedEnding {
  return { ended: 'parked', reason, kind: 'needs an operator', outcomeUnknown: false };
}

/** The delay quadruples with each attempt, up to ten minutes. Half of it is jitter. */
function retryPause(attempts: number, random: () => number): number {
  const longest = Math.min(FIRST_RETRY_MS * 4 ** (attempts - 1), LONGEST_SLEEP_MS);
  return longest / 2 + (random() * longest) / 2;
}
