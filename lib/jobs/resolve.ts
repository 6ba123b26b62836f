import type { Table } from '../table/table.ts';
import type { Job } from './job.ts';
import { openJournal } from './journal.ts';
import type { Created } from './steps.ts';
import { requeueJob, type SweepOptions } from './sweep.ts';

/** What a person found out about a creation of which the relay could not say if it was carried out. */
export type Resolution = { done: string | number } | 'again';

/**
 * Lets a job go on that is parked because the outcome of a creating step is unknown: with the id of what was created,
 * or by creating it anew.
 *
 * @returns the queued job
 * @throws {Error} for a job in another state
 */
export async function resolveJob(
  job: Job,
  resolution: Resolution,
  options: SweepOptions & { table: Table; clock: () => number },
): Promise<Job> {
  if (job.status !== 'parked' || !job.parked?.outcomeUnknown) {
    throw new Error(`${job.id} is not parked with an unknown outcome (it is ${job.status})`);
  }
  const journal = await openJournal(options.table, job.id, options.clock);
  for (const step of journal.openSteps()) {
    if (resolution !== 'again') {
      const now = options.clock();
      const result: Created = { id: resolution.done, signed: journal.openRequest(step)?.signed ?? '' };
      const { calls, startedAt } = journal.entry(step) ?? { calls: step, startedAt: now };
      const note = 'a person found what was created';
      await journal.write({ step, calls, status: 'done', startedAt, finishedAt: now, result, note });
    }
    await journal.dropRequest(step);
  }
  const queued = await requeueJob(job, options);
  if (!queued) throw new Error(`${job.id} changed in this moment; look at it again`);
  return queued;
}
