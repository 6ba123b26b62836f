import type { Job } from '../lib/jobs/job.ts';
import type { ParkedGroups } from './contract.ts';
import { nextOf } from './job.ts';
import type { ConsoleRelay } from './relay.ts';
import { rowOf } from './row.ts';

/** The newest of more parked jobs are shown. */
const SHOWN = 500;

/** The parked jobs, by the reason why. The largest group is first. */
export async function readParked({ stores }: ConsoleRelay): Promise<ParkedGroups> {
  const found = await stores.jobs.list('parked', { limit: SHOWN + 1, newestFirst: true });
  const groups = Map.groupBy(found.slice(0, SHOWN), (job) => `${job.parked?.outcomeUnknown} ${commonReason(job)}`);
  return {
    more: found.length > SHOWN,
    groups: [...groups.values()]
      .toSorted((a, b) => b.length - a.length)
      .flatMap((jobs) => {
        const [first] = jobs;
        if (!first) return [];
        const outcomeUnknown = first.parked?.outcomeUnknown ?? false;
        return [{ reason: commonReason(first), outcomeUnknown, help: nextOf(first).text, jobs: jobs.map(rowOf) }];
      }),
  };
}

/** What differs from job to job in a reason: quoted names, times, ids and numbers. */
const VARIABLE = [
  /"[^"]*"|'[^']*'|`[^`]*`/g,
  /\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?/g,
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi,
  /\b(?=[\w-]*\d)[\w-]{12,}\b/g,
  // A status of HTTP has three digits, and says why.
  /#\d+|\b\d{4,}\b/g,
];

/** The reason of a parked job, with `…` for what is only about this job. */
export function commonReason({ parked }: Pick<Job, 'parked'>): string {
  return VARIABLE.reduce((reason, variable) => reason.replaceAll(variable, '…'), parked?.reason ?? '');
}
