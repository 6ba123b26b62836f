import { setTimeout } from 'node:timers/promises';
import { findJobs, type JobFilter } from '../lib/engine/operate/find-jobs.ts';
import { endedAt, type Job, newsOf } from '../lib/engine/record/job.ts';
import { createShowJob } from '../lib/people/names.ts';
import type { Table } from '../lib/state/table/table.ts';
import { printableJson } from '../local/terminal.ts';
import { printChange, withIsoTimes } from './print.ts';

const LOOK_EVERY_MS = 1_000;
/** Each look reads only the newest jobs of each status, so its cost does not depend on the number of jobs. */
const LOOKED_AT = 200;
const MAX_PAGES = 10;

/** Shows each change of the matching jobs, until Ctrl+C. @param known the jobs that are already shown */
export async function followJobs(
  table: Table,
  filter: JobFilter,
  known: readonly Job[],
  asJson: boolean,
  looks = Number.POSITIVE_INFINITY,
): Promise<void> {
  const seen = new Map(known.map((job) => [job.id, { state: stateOf(job), isWanted: true }]));
  const { statuses, ...others } = filter;
  const shown = createShowJob({ table, clock: table.clock.now });
  let since = table.clock.now();
  for (let look = 0; look < looks; look++) {
    if (look > 0) await setTimeout(LOOK_EVERY_MS);
    // All statuses, because a job that leaves the requested status has changed, too.
    const { jobs } = await findJobs(table, {
      filter: others,
      limit: LOOKED_AT,
      maxPages: MAX_PAGES,
      now: table.clock.now(),
      shown,
    });
    for (const job of jobs.toReversed()) {
      const before = seen.get(job.id);
      const now = { state: stateOf(job), isWanted: statuses === undefined || statuses.includes(job.status) };
      seen.set(job.id, now);
      // A job that appears late may be old: it was never read, or moved up when another job left.
      const hasChanged = before ? before.state !== now.state : changedAt(job) >= since;
      if (hasChanged && (now.isWanted || before?.isWanted))
        asJson ? console.log(printableJson(withIsoTimes(job), 0)) : printChange(await shown(job));
    }
    // This machine's clock may be ahead of the relay's.
    if (look === 0) since = Math.min(since, Math.max(...jobs.map(changedAt)) + 1);
  }
}

/** When the job's state last changed, in epoch milliseconds. */
function changedAt(job: Job): number {
  const { createdAt, queuedAt = 0, waits } = job;
  const { from = 0, until = 0 } = waits?.newest.at(-1) ?? {};
  return Math.max(createdAt, queuedAt, endedAt(job) ?? 0, from, until);
}

/** The parts of a job. If one of them changes, the list gets a new line. */
function stateOf(job: Job): string {
  const { status, generation } = job;
  return JSON.stringify([status, status === 'waiting' ? 0 : generation, newsOf(job)]);
}
