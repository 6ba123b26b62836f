import { type Job, type JobDraft, jobId } from '../record/job.ts';
import type { JobSignatures } from '../record/job-signatures.ts';
import type { JobStore } from '../record/job-store.ts';
import type { JobQueue } from './queue.ts';

export interface AcceptedBy {
  jobs: JobStore;
  queue: JobQueue;
  /** Signs jobs that a person asks for. */
  signatures?: Pick<JobSignatures, 'sign'>;
}

/**
 * Accepts an event: stores its job, then queues it. Throws if either fails, because only a stored and queued event may
 * be acknowledged. No record says that a job was queued, so a repeat of the event sends it again until a worker has it.
 *
 * @param keepState only for events about an issue: stores the state that the event reports and the job needs. Also runs
 * for a repeat, because a state that appears, disappears and reappears within one second has the same id each time.
 * Returns the state's revision, or undefined if a newer state is known. If a repeat's state is newer than its job's,
 * and the job may have run, the repeat gets a job of its own. A job without a revision was accepted after a newer
 * state, so no repeat of it is newer.
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
  // Stored without a read before, because almost every event is new.
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
