import { hasEnded, type Job } from '../../engine/record/job.ts';
import type { Journal, SentFields } from '../../engine/record/journal.ts';
import type { Created } from '../../engine/run/job-steps.ts';
import type { Context } from '../context.ts';

export const CREATE_STEP = 'create-defect';

/**
 * What happened to a job's claim.
 * - `under way`: the job has not ended and will settle its claim itself. An `idle` job has sent nothing, and renews its
 *   claim before it sends anything, so another job may take over the claim
 * - `made`: the job created the defect, but ended before it updated the link
 * - `nothing`: the job ended or is parked, without an open request
 * - `unknown`: the job is parked until a person decides whether its request was carried out
 * - `gone`: the job was discarded, or its record has expired, and it may have created a defect with these fields
 */
export type ClaimFate =
  | { fate: 'under way'; job: Job; isIdle: boolean }
  | { fate: 'nothing' | 'unknown' }
  | { fate: 'made'; created: Created }
  | { fate: 'gone'; sent: SentFields };

export async function fateOfClaim(
  jobId: string,
  { jobs, journal }: Pick<Context, 'jobs' | 'journal'>,
): Promise<ClaimFate> {
  const job = await jobs.get(jobId);
  const kept = await journal(jobId);
  const creation = creationOf(kept);
  if (job && !hasEnded(job)) {
    return { fate: 'under way', job, isIdle: job.status !== 'running' && creation === 'none' };
  }
  if (typeof creation === 'object') return { fate: 'made', created: creation };
  if (creation === 'none' && job) return { fate: 'nothing' };
  if (job?.status === 'parked') return { fate: 'unknown' };
  return { fate: 'gone', sent: kept.openRequest(CREATE_STEP)?.sent ?? {} };
}

/** Returns the state of the defect in a job's journal: created, request open, or neither. */
export function creationOf(journal: Pick<Journal, 'entry' | 'openRequest'>): Created | 'open' | 'none' {
  const entry = journal.entry(CREATE_STEP);
  if (entry?.status === 'done') return entry.result as Created;
  return journal.openRequest(CREATE_STEP) ? 'open' : 'none';
}
