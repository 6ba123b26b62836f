import { type Job, type JobDraft, jobId } from './job.ts';
import type { JobStore } from './job-store.ts';
import type { JobQueue } from './queue.ts';

/**
 * Makes an event safe: the job is stored, then queued, then marked as queued. Failures throw, so that an event is
 * acknowledged only when it is safe. A repeat of the event continues where the last try ended.
 *
 * @param keepState stores the state that the event reports and the job relies on. It runs for a repeat too, because a
 * state that appears, disappears and reappears within one second has the same id each time. It returns the state's
 * revision, or undefined if a newer state is known. If a repeat's state is the newest but has another revision than its
 * job, the repeat gets its own job.
 * @returns the job, and whether the event was accepted before
 */
export async function acceptEvent(
  draft: JobDraft,
  { jobs, queue }: { jobs: JobStore; queue: JobQueue },
  keepState?: () => Promise<number | undefined>,
): Promise<{ job: Job; repeat: boolean }> {
  const revision = await keepState?.();
  // Stored without a read first, because almost every event is new.
  const withRevision = (draft: JobDraft): JobDraft => ({ ...draft, ...(revision !== undefined && { revision }) });
  const { job, stored } = await jobs.store(withRevision(draft));
  const toldAnew = !stored && isSafe(job) && revision !== undefined && job.revision !== revision;
  return toldAnew
    ? queued((await jobs.store(withRevision({ ...draft, id: jobId(draft.automation, draft.id, revision) }))).job)
    : queued(job);

  async function queued(job: Job): Promise<{ job: Job; repeat: boolean }> {
    if (isSafe(job)) return { job, repeat: true };
    await queue.send(job);
    await jobs.noteQueued(job);
    return { job, repeat: false };
  }
}

/** A job that ran has been in the queue, even if it was not marked as queued. */
function isSafe(job: Job): boolean {
  return job.queuedAt !== undefined || job.status !== 'queued';
}
