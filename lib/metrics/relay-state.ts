import type { Budget } from '../budget/budget.ts';
import type { RelayConfig } from '../config/schema.ts';
import type { Breakers } from '../connection/breakers.ts';
import type { JobStore } from '../jobs/job-store.ts';
import type { Metrics } from './metrics.ts';

/** More than these say no more to whoever is woken. */
const COUNTED_UP_TO = 100;

/** Records how the relay stands now: what waits for a person, what is overdue, and what each connection has left. */
export async function recordState(
  options: { config: RelayConfig; jobs: JobStore; budget: Budget; breakers: Breakers; metrics: Metrics },
  now: number,
): Promise<void> {
  const { config, jobs, budget, breakers, metrics } = options;
  const parked = await jobs.list('parked', { limit: COUNTED_UP_TO });
  const next = await Promise.all(
    (['queued', 'running', 'waiting'] as const).map((status) => jobs.list(status, { limit: 1 })),
  );
  const oldest = Math.min(now, ...next.flat().map((job) => job.wakeAt));
  metrics.record({ ParkedJobs: parked.length, OldestOverdue: Math.round((now - oldest) / 1000) });

  for (const [connection, { limits }] of Object.entries(config.connections)) {
    const { minute, day, pausedUntil } = await budget.view(connection, limits);
    const open = await breakers.listOpen(connection);
    const isDown = open.some(({ operation }) => operation === undefined);
    metrics.record(
      {
        MinuteBudgetUsed: (100 * minute.used) / minute.limit,
        DayBudgetUsed: (100 * day.used) / day.limit,
        ConnectionPaused: pausedUntil === null && !isDown ? 0 : 1,
        OperationsStopped: open.filter(({ operation }) => operation !== undefined).length,
      },
      connection,
    );
  }
}
