import type { Job } from '../jobs/job.ts';
import type { JobStore } from '../jobs/job-store.ts';
import type { Journal } from '../jobs/journal.ts';
import type { Created } from '../jobs/steps.ts';

/** The step that creates an issue's defect. */
export const CREATE_STEP = 'create-defect';

/**
 * What happened to a job's claim.
 * - `under way`: the job has not ended, and settles its claim itself; if it `yields`, it waits for a backfill and has sent
 *   nothing, so the job of an event may take its claim over
 * - `made`: the job created the defect, but ended before it wrote that to the link
 * - `nothing`: the job ended, and it has no open request
 * - `unknown`: the job is parked until a person decides whether its request was executed
 * - `gone`: the job's record is gone; an earlier version let these records expire
 */
export type ClaimFate =
  | { fate: 'under way'; yields: boolean }
  | { fate: 'nothing' | 'unknown' | 'gone' }
  | { fate: 'made'; created: Created };

export interface ClaimFateOptions {
  jobs: JobStore;
  journal: (jobId: string) => Promise<Journal>;
}

export async function fateOfClaim(jobId: string, { jobs, journal }: ClaimFateOptions): Promise<ClaimFate> {
  const job = await jobs.get(jobId);
  const creation = creationOf(await journal(jobId));
  if (job && isUnderWay(job)) {
    return { fate: 'under way', yields: job.lane === 'backfill' && job.status === 'waiting' && creation === 'none' };
  }
  if (creation === 'open') return { fate: job?.status === 'parked' ? 'unknown' : 'gone' };
  if (creation !== 'none') return { fate: 'made', created: creation };
  return { fate: job ? 'nothing' : 'gone' };
}

/** What a job's journal says about its defect: created, request open, or neither. */
export function creationOf(journal: Journal): Created | 'open' | 'none' {
  const entry = journal.entry(CREATE_STEP);
  if (entry?.status === 'done') return entry.result as Created;
  return journal.openRequest(CREATE_STEP) ? 'open' : 'none';
}

function isUnderWay({ status }: Job): boolean {
  return status === 'queued' || status === 'running' || status === 'waiting';
}
