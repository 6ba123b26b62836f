import type { Job } from './job.ts';
import { requeueJob, type SweepOptions } from './sweep.ts';

/**
 * Lets those of a person's jobs go on that wait for their account, once they have linked it. A job that nobody calls
 * looks for the link itself, every half hour.
 *
 * @param jobs of the person, whatever they wait for
 * @returns those that go on
 */
export async function goOnLinked(jobs: readonly Job[], options: SweepOptions): Promise<Job[]> {
  const awaiting = jobs.filter(({ status, awaitsLink }) => status === 'waiting' && awaitsLink);
  const requeued = await Promise.all(awaiting.map((job) => requeueJob(job, options)));
  return requeued.filter((job) => job !== undefined);
}
