import { causeOf } from '../lib/engine/operate/parked-groups.ts';
import { isOutcomeUnknown, type Job } from '../lib/engine/record/job.ts';
import { nextOf } from './job.ts';
import type { OperatedRelay } from './relay.ts';
import { rowOf } from './row.ts';

/** The newest of more parked jobs are shown. */
const SHOWN = 500;

/** The parked jobs, by the reason why. The largest group is first. */
export async function readParked({ stores, runtime }: OperatedRelay) {
  const found = await stores.jobs.list('parked', { limit: SHOWN + 1, newestFirst: true });
  const groups = Map.groupBy(found.slice(0, SHOWN), (job) => `${isOutcomeUnknown(job)} ${reasonOf(job)}`);
  return {
    more: found.length > SHOWN,
    groups: [...groups.values()]
      .toSorted((a, b) => b.length - a.length)
      .flatMap((jobs) => {
        const [first] = jobs;
        if (!first) return [];
        const outcomeUnknown = isOutcomeUnknown(first);
        return [
          { reason: reasonOf(first), outcomeUnknown, help: nextOf(first, runtime.clock()).text, jobs: jobs.map(rowOf) },
        ];
      }),
  };
}

const reasonOf = ({ parked }: Job) => causeOf(parked?.reason ?? '');
