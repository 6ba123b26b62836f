import type { JobStatus } from '../lib/jobs/job.ts';
import type { JobPage } from './contract.ts';
import type { ConsoleRelay } from './relay.ts';
import { rowOf } from './row.ts';

export const statuses: readonly JobStatus[] = ['queued', 'running', 'waiting', 'succeeded', 'parked'];

const PAGE = 50;

/** A page of jobs, newest first. */
export async function findJobs({ stores }: ConsoleRelay, query: URLSearchParams): Promise<JobPage> {
  const wanted = statuses.filter((status) => !query.get('status') || status === query.get('status'));
  const lists = await Promise.all(wanted.map((status) => stores.jobs.list(status, { limit: PAGE, newestFirst: true })));
  const newest = lists
    .flat()
    .sort((a, b) => b.createdAt - a.createdAt)
    .slice(0, PAGE);
  return { jobs: newest.map(rowOf), read: lists.flat().length };
}
