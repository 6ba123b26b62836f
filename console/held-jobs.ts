import { READ_TO_COUNT } from '../lib/engine/operate/job-counts.ts';
import { lineOf } from '../lib/engine/record/job-lists.ts';
import type { JobStore } from '../lib/engine/record/job-store.ts';
import { lanes } from '../lib/service/budget/lanes.ts';
import type { ConnectionView } from '../lib/service/connection/connection-view.ts';

/** The jobs that wait in line for a connection or an operation that does not work, and the names of these lines. */
export async function heldJobs(
  connection: string,
  { isStopped, pausedUntil, stopped }: ConnectionView,
  jobs: Pick<JobStore, 'line'>,
) {
  const isWhole = isStopped || pausedUntil !== null;
  const operations = stopped.flatMap(({ operation }) => operation ?? []);
  const held = [...(isWhole ? [undefined] : []), ...operations].flatMap((operation) =>
    lanes.map((lane) => ({ lane, operation })),
  );
  const lines = held.map(({ lane, operation }) => jobs.line(connection, lane, READ_TO_COUNT, operation));
  return {
    standing: (await Promise.all(lines)).flat(),
    names: new Set(held.map(({ lane, operation }) => lineOf(connection, lane, operation))),
  };
}
