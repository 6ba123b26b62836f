/** Key of an item in the state table. */
export interface Key {
  pk: string;
  sk: string;
}

/**
 * Every key of the table, and who writes it. Items of one job share a partition, so that one query shows its story.
 */
export const keys = {
  /** lib/jobs/job-store.ts */
  job: (jobId: string): Key => ({ pk: `job#${jobId}`, sk: 'job' }),
  /** lib/jobs/journal.ts: what a step did. */
  step: (jobId: string, step: string): Key => ({ pk: `job#${jobId}`, sk: `step#${step}` }),
  /** lib/jobs/journal.ts: the signed request of a creating step whose outcome is open. */
  request: (jobId: string, step: string): Key => ({ pk: `job#${jobId}`, sk: `request#${step}` }),
  /** lib/automations/link.ts: what an entity of GitHub has become in the service. */
  link: (entity: string): Key => ({ pk: `link#${entity}`, sk: 'link' }),
  /** lib/connection/outages.ts */
  outage: (connection: string): Key => ({ pk: `outage#${connection}`, sk: 'outage' }),
  /** lib/budget/budget.ts */
  budget: (connection: string): Key => ({ pk: `budget#${connection}`, sk: 'budget' }),
};

/** The index of jobs by status and by the time at which somebody should look at them; only jobs have both. */
export const jobsByStatus = { name: 'jobs-by-status', partition: 'status', sort: 'wakeAt' } as const;
