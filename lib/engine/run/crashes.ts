import { operations } from '../../service/partner/operations/operations.ts';
import { NeedsOperator } from '../record/interruption.ts';
import type { Job } from '../record/job.ts';
import type { Journal } from '../record/journal.ts';
import type { Steps } from './steps.ts';

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
 * Parks a job that crashes in vain. The automation does not run again, but what it has sent without a clear answer is
 * sent again and searched for.
 * @throws {NeedsOperator} in the end
 */
export async function parkCrashed({ crashes = [] }: Job, journal: Journal, steps: Steps): Promise<never> {
  if (crashes.length < MOST_WITH_SETTLING) {
    for (const step of journal.undecidedSteps()) {
      const operation = operations.get(journal.openRequest(step)?.operation ?? '');
      // Its payload is in the journal.
      if (operation) await steps.create(step, operation, {});
    }
  }
  throw new NeedsOperator(`the worker crashed ${crashes.length} times in a row on this job, which did not get on`);
}
