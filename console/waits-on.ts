import type { WaitsFor } from '../lib/engine/record/history.ts';
import { type Job, waitOf } from '../lib/engine/record/job.ts';
import { WHOLE } from '../lib/service/connection/breaker-item.ts';
import { createBreakers, whyStopped } from '../lib/service/connection/breakers.ts';
import type { Table } from '../lib/state/table/table.ts';

const HOLDS: ReadonlySet<WaitsFor> = new Set(['outage', 'key', 'budget']);

/**
 * Why a job still waits after it was replayed: an outage, or a budget that is used up. The text may come from outside.
 * @param job before the replay
 */
export async function whyWaitsOn(
  job: Job,
  { table, clock }: { table: Table; clock: () => number },
): Promise<string | undefined> {
  const { down, operations } = await createBreakers({ table, clock, random: Math.random }).lines(job.connection);
  const wait = waitOf(job);
  // Otherwise it was an outage of GitHub or Slack, which only another call shows, or it is over.
  const isHeld = wait && HOLDS.has(wait.for) && (wait.for !== 'outage' || operations.some(({ stopped }) => stopped));
  const held = isHeld ? wait.why : undefined;
  return down ? whyStopped(job.connection, WHOLE, down) : held;
}
