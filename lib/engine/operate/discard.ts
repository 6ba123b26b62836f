import type { Table } from '../../state/table/table.ts';
import { requeueJob, type SweepOptions } from '../line/sweep.ts';
import { canBeDiscarded, type Job } from '../record/job.ts';
import { openJournal } from '../record/journal.ts';
import { verifyIsOver } from './resolve.ts';

/**
 * Ends a parked job, or a waiting one of a backfill, without doing the rest of its work. The worker ends it: it tells the person who asked, and releases
 * what the job holds, such as its claim of a link. What the job has already done stays. Nothing more is sent to the
 * service.
 *
 * @param by the operator
 * @param reason for the history, and for the person who asked in Slack; a comment on GitHub does not have it
 * @returns the queued job
 * @throws {Error} if the job is in another state, or while a request of it can still be executed
 */
export async function discardJob(
  job: Job,
  { by, reason }: { by: string; reason: string },
  options: SweepOptions & { table: Table; clock: () => number },
): Promise<Job> {
  const { table, clock } = options;
  if (!canBeDiscarded(job)) {
    const which = 'only parked jobs, and waiting jobs of a backfill, can be discarded';
    throw new Error(`the status of ${job.id} is ${job.status}; ${which}`);
  }
  if (reason.trim() === '') throw new Error('a discarded job needs a reason');
  const journal = await openJournal(table, job.id, clock);
  for (const step of journal.openSteps()) {
    const open = journal.openRequest(step);
    if (open) verifyIsOver(open, clock());
  }
  const queued = await requeueJob(job, options, { at: clock(), by, what: 'discarded', reason: reason.trim() });
  if (!queued) throw new Error(`${job.id} has just changed; check it and try again`);
  return queued;
}
