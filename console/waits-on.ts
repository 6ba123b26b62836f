import type { ShowJob } from '../lib/engine/operate/find-jobs.ts';
import type { Waited, WaitsFor } from '../lib/engine/record/history.ts';
import { type Job, waitOf } from '../lib/engine/record/job.ts';
import { WHOLE } from '../lib/service/connection/breaker-item.ts';
import { createBreakers, whyStopped } from '../lib/service/connection/breakers.ts';
import type { Table } from '../lib/state/table/table.ts';

const HOLDS: ReadonlySet<WaitsFor> = new Set(['outage', 'key', 'budget']);

/**
 * Returns a function that gives a job that waits for its connection the present reason: since the job began to wait, the
 * connection may need a new key, or no longer.
 */
export function createAsNow(stores: { table: Table; clock: () => number }): ShowJob {
  const breakers = createBreakers({ ...stores, random: Math.random });
  const known = new Map<string, ReturnType<typeof breakers.lines>>();
  return async (job) => {
    const { connection, waits } = job;
    const wait = waitOf(job);
    const isOfConnection = [`${connection} is down: `, `the service refuses the key of ${connection}: `];
    if (!waits || !wait || !isOfConnection.some((began) => wait.why.startsWith(began))) return job;
    const lines = known.get(connection) ?? breakers.lines(connection);
    known.set(connection, lines);
    const { down } = await lines;
    if (!down) return job;
    const now: Waited = { ...wait, for: down.refusesKey ? 'key' : 'outage', why: whyStopped(connection, WHOLE, down) };
    return { ...job, waits: { ...waits, newest: [...waits.newest.slice(0, -1), now] } };
  };
}

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
