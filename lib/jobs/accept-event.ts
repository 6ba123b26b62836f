import type { Job, JobDraft } from './job.ts';
import type { JobStore } from './job-store.ts';
import type { JobQueue } from './queue.ts';

/**
 * Makes an event safe: the job is stored, then queued, then noted as queued. What fails throws, so that nothing is
 * acknowledged which is not safe; the same event again takes up where the last try ended.
 *
 * @param beforeStoring writes what the job relies on; it may run again for the same event
 * @returns the job, and whether the event had been accepted before
 */
export async function acceptEvent(
  draft: JobDraft,
  { jobs, queue }: { jobs: JobStore; queue: JobQueue },
  beforeStoring?: () => Promise<void>,
): Promise<{ job: Job; repeat: boolean }> {
  const known = await jobs.get(draft.id);
  if (known && isSafe(known)) return { job: known, repeat: true };

  await beforeStoring?.();
  const { job } = known ? { job: known } : await jobs.store(draft);
  if (isSafe(job)) return { job, repeat: true };
  await queue.send(job);
  await jobs.noteQueued(job);
  return { job, repeat: false };
}

/** A job that ran has been in the queue, even if nobody noted it. */
function isSafe(job: Job): boolean {
  return job.queuedAt !== undefined || job.status !== 'queued';
}
