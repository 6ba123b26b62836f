import { type Job, type JobDraft, jobId } from '../record/job.ts';
import type { JobSignatures } from '../record/job-signatures.ts';
import type { JobStore } from '../record/job-store.ts';
import type { JobQueue } from './queue.ts';

export interface AcceptedBy {
  jobs: JobStore;
  queue: JobQueue;
  /** The signatures of jobs that a person asks for. */
  signatures?: Pick<JobSignatures, 'sign'>;
}

/**
 * Makes an event safe: stores the job, then queues it. Failures throw, so that an event is acknowledged only when it is
 * safe. Nothing notes that a job was queued, so a repeat sends it again until a worker has it.
 *
 * @param keepState only for events about an issue: stores the state that the event reports and the job relies on. It
 * runs for a repeat too, because a state that appears, disappears and reappears within one second has the same id each
 * time. It returns the state's revision, or undefined if a newer state is known. If a repeat's state is newer than the
 * one of its job, and the job may have run, the repeat gets its own job. A job without a revision was accepted when a
 * newer state was known, so its repeat is never newer, however late it comes.
 * @returns the job, and whether the event was accepted before
 */
export async function acceptEvent(
  draft: JobDraft,
  { jobs, queue, signatures }: AcceptedBy,
  keepState?: () => Promise<number | undefined>,
): Promise<{ job: Job; repeat: boolean }> {
  const revision = await keepState?.();
  async function store(draft: JobDraft): Promise<{ job: Job; stored: boolean }> {
    const made = { ...draft, revision };
    return jobs.store(signatures ? await signatures.sign(made) : made);
  }
  // Stored without a read first, because almost every event is new.
  const { job, stored } = await store(draft);
  const isNewer = revision !== undefined && job.revision !== undefined && revision > job.revision;
  return isNewer && job.status !== 'queued'
    ? queued(await store({ ...draft, id: jobId(draft.automation, draft.id, revision) }))
    : queued({ job, stored });

  async function queued({ job, stored }: { job: Job; stored: boolean }): Promise<{ job: Job; repeat: boolean }> {
    if (job.status === 'queued') await queue.send(job);
    return { job, repeat: !stored };
  }
}
