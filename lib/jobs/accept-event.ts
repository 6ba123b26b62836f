import { type Job, type JobDraft, jobId } from './job.ts';
import type { JobStore } from './job-store.ts';
import type { JobQueue } from './queue.ts';

/**
 * Makes an event safe: the job is stored, then queued, then noted as queued. What fails throws, so that nothing is
 * acknowledged which is not safe; the same event again takes up where the last try ended.
 *
 * @param keepState keeps the state that the event tells, which the job relies on. Runs for a repeat too: a state that
 * came, went and came back within one second has the same id each time. Returns the state's revision, or undefined
 * where a newer one is known. A repeat whose state is newest at another revision than its job's gets a job of its own.
 * @returns the job, and whether the event had been accepted before
 */
export async function acceptEvent(
  draft: JobDraft,
  { jobs, queue }: { jobs: JobStore; queue: JobQueue },
  keepState?: () => Promise<number | undefined>,
): Promise<{ job: Job; repeat: boolean }> {
  const revision = await keepState?.();
  // Stored without looking first: nearly every event is new.
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

/** A job that ran has been in the queue, even if nobody noted it. */
function isSafe(job: Job): boolean {
  return job.queuedAt !== undefined || job.status !== 'queued';
}
