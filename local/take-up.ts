import { LONGEST_SLEEP_MS } from '../lib/config/queues.ts';
import type { RelayConfig } from '../lib/config/schema.ts';
import { requeueJobs } from '../lib/engine/line/sweep.ts';
import { openWaitingLines } from '../lib/engine/line/waiting-line.ts';
import type { Stores } from '../lib/runtime.ts';
import { lanes } from '../lib/service/budget/lanes.ts';

/** The most waiting jobs that are counted in each lane. */
const MOST_COUNTED = 10_000;

/**
 * Queues the jobs that were under way when the last process ended, because its queue and leases are lost.
 * @param wasStopped true if that process stopped normally
 * @returns the number of jobs that continue
 */
export async function takeUp(stores: Stores, config: RelayConfig, wasStopped: boolean): Promise<number> {
  const by = {
    running: Number.MAX_SAFE_INTEGER,
    waiting: Date.now() + LONGEST_SLEEP_MS,
    // Comes last, after the jobs that this function queues itself.
    queued: Number.MAX_SAFE_INTEGER,
  };
  const { jobs } = stores;
  const lines = openWaitingLines({ ...stores, clock: Date.now });
  const isCalled = async ({ connection, line }: { connection: string; line: string }) =>
    Object.hasOwn(config.connections, connection) && lines.advances(line, connection);
  const unfinished = new Set<string>();
  for (const status of ['running', 'waiting', 'queued'] as const) {
    for (const { id } of await requeueJobs(status, by[status], { ...stores, isCalled, wasStopped })) unfinished.add(id);
  }
  for (const [name, { limits }] of Object.entries(config.connections)) {
    for (const lane of lanes) for (const { id } of await jobs.line(name, lane, MOST_COUNTED)) unfinished.add(id);
    await lines.moveOn({ name, limits }, { atOnce: true });
  }
  return unfinished.size;
}
