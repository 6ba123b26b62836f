import { findJobs } from '../lib/engine/operate/find-jobs.ts';
import { type Job, shortName } from '../lib/engine/record/job.ts';
import type { Stores } from '../lib/runtime.ts';

const MAX_PAGES = 200;
/** The most jobs to search for the text. */
const MAX_FOUND = 500;
const SHOWN = 5;

/**
 * Finds a job by its id, by its short name from the first terminal, or by another part of its id.
 * @throws {Error} if no job has it, or several do
 */
export async function knownJob({ jobs, table }: Pick<Stores, 'jobs' | 'table'>, name: string): Promise<Job> {
  const job = await jobs.get(name);
  if (job) return job;
  const all = await findJobs(table, { filter: { text: name }, limit: MAX_FOUND, maxPages: MAX_PAGES, now: Date.now() });
  const named = all.jobs.filter(({ id }) => shortName(id) === name);
  const found = named.length > 0 ? named : all.jobs.filter(({ id }) => id.includes(name));
  const [only, ...others] = found;
  if (others.length > 0) {
    throw new Error(
      `${name} is in the ids of several jobs: ${found
        .slice(0, SHOWN)
        .map(({ id }) => id)
        .join(', ')}${found.length > SHOWN ? ', …' : ''}`,
    );
  }
  // The index may lag behind, so read the job itself.
  const read = only && (await jobs.get(only.id));
  if (!read) throw new Error(`there is no job ${name}; to list the newest jobs, run: npx partner-relay jobs`);
  return read;
}
