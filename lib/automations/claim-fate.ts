import type { Job } from '../jobs/job.ts';
import type { JobStore } from '../jobs/job-store.ts';
import type { Journal } from '../jobs/journal.ts';
import type { Created } from '../jobs/steps.ts';

/** The step that makes an issue's defect. */
export const CREATE_STEP = 'create-defect';

/**
 * What a job has made of its claim.
 * - `under way`: it has not ended, and settles its claim itself
 * - `made`: it created the defect, and ended before the link said so
 * - `nothing`: it ended, and no request of it is open
 * - `unknown`: it is parked until a person decides what became of its request
 * - `gone`: there is no record of it, which an earlier version let expire
 */
export type ClaimFate = { fate: 'under way' | 'nothing' | 'unknown' | 'gone' } | { fate: 'made'; created: Created };

export interface ClaimFateOptions {
  jobs: JobStore;
  journal: (jobId: string) => Promise<Journal>;
}

export async function fateOfClaim(jobId: string, { jobs, journal }: ClaimFateOptions): Promise<ClaimFate> {
  const job = await jobs.get(jobId);
  if (job && isUnderWay(job)) return { fate: 'under way' };
  const creation = creationOf(await journal(jobId));
  if (creation === 'open') return { fate: job?.status === 'parked' ? 'unknown' : 'gone' };
  if (creation !== 'none') return { fate: 'made', created: creation };
  return { fate: job ? 'nothing' : 'gone' };
}

/** What the journal of a job says of its defect: created, its request open, or neither. */
export function creationOf(journal: Journal): Created | 'open' | 'none' {
  const entry = journal.entry(CREATE_STEP);
  if (entry?.status === 'done') return entry.result as Created;
  return journal.openRequest(CREATE_STEP) ? 'open' : 'none';
}

function isUnderWay({ status }: Job): boolean {
  return status === 'queued' || status === 'running' || status === 'waiting';
}
