import { type Job, waitOf } from '../lib/engine/record/job.ts';
import { WHOLE } from '../lib/service/connection/breaker-item.ts';
import { createBreakers, whyStopped } from '../lib/service/connection/breakers.ts';
import type { Table } from '../lib/state/table/table.ts';

/**
 * Why a job still waits after it was replayed in an outage. The text may come from outside. @param job before the
 * replay
 */
export async function whyWaitsOn(
  job: Job,
  { table, clock }: { table: Table; clock: () => number },
): Promise<string | undefined> {
  const { down } = await createBreakers({ table, clock, random: Math.random }).lines(job.connection);
  const wait = waitOf(job);
  const held = wait?.for === 'outage' || wait?.for === 'key' ? wait.why : undefined;
  const why = down ? whyStopped(job.connection, WHOLE, down) : held;
  return why && `${why}. It waits until that is over.`;
}
