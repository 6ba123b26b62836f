import { findJobs } from '../lib/engine/operate/find-jobs.ts';
import { type Job, shortName } from '../lib/engine/record/job.ts';
import type { Stores } from '../lib/runtime.ts';

const MAX_PAGES = 200;

/**
 * Finds a job by its id, or by its short name as the first terminal shows it.
 * @throws {Error} if there is none, or if the short name fits several
 */
export async function knownJob({ jobs, table }: Pick<Stores, 'jobs' | 'table'>, name: string): Promise<Job> {
  const job = await jobs.get(name);
  if (job) return job;
  const all = await findJobs(table, { filter: { text: name }, limit: 50, maxPages: MAX_PAGES, now: Date.now() });
  const found = all.jobs.filter(({ id }) => shortName(id) === name);
  const [only, ...others] = found;
  if (others.length > 0)
    throw new Error(`several jobs have the short name ${name}: ${found.map(({ id }) => id).join(', ')}`);
  // The index may lag behind, so the job itself is read.
  const read = only && (await jobs.get(only.id));
  if (!read) throw new Error(`there is no job ${name}; to list the newest jobs, run: npm run -s relay -- jobs`);
  return read;
}
