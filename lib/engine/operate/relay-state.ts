import { LONGEST_SLEEP_MS } from '../../config/queues.ts';
import type { Limits } from '../../service/budget/window.ts';
import { viewConnection } from '../../service/connection/connection-view.ts';
import type { Metrics } from '../../state/metrics/metrics.ts';
import { jobsByStatus } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import { type JobStatus, queuedSince } from '../record/job.ts';
import { type JobStore, WAKE_GRACE_MS } from '../record/job-store.ts';

/** A higher count would not help the operator. */
const COUNTED_UP_TO = 100;

export interface JobsToRecord {
  table: Table;
  jobs: JobStore;
  metrics: Metrics;
}

/** Background jobs begin within this time: docs/decisions/0047-objectives-and-traces.md#service-objectives. */
const BEGINS_WITHIN_MS = 60_000;

/** Records how many jobs are parked, how overdue jobs are, and the longest wait for a worker. */
export async function recordJobs({ table, jobs, metrics }: JobsToRecord, now: number): Promise<void> {
  // Includes unreadable jobs, which also need a person.
  const inStatus = { expression: '#status = :parked', values: { parked: 'parked' } };
  const parked = await table.countIndex(jobsByStatus.name, inStatus, COUNTED_UP_TO);
  // Includes jobs that only a newer version can read, because the sweep leaves them alone.
  const first = async (status: JobStatus) => {
    const condition = { expression: '#status = :status', values: { status } };
    const { items } = await table.indexPage(jobsByStatus.name, condition, { limit: 1, newestFirst: false });
    return items.map(({ wakeAt }) => Number(wakeAt));
  };
  const next = await Promise.all([first('running'), first('waiting'), first('queued')]);
  // The sweep checks a queued job again when it is twice as old. The jobs with the latest checks are therefore the
  // oldest, or at least half as old as the oldest.
  const unclaimed = await jobs.list('queued', { limit: COUNTED_UP_TO, newestFirst: true });
  const oldest = Math.min(now, ...next.flat(), ...unclaimed.map(queuedSince));
  const late = unclaimed.filter((job) => now - queuedSince(job) > BEGINS_WITHIN_MS);
  const blocked = late.length > 0 ? await blockedEntities(jobs, now) : new Set();
  const queued = late.filter(({ entity }) => !blocked.has(entity)).map(queuedSince);
  metrics.record({
    ParkedJobs: parked,
    OldestOverdue: Math.round((now - oldest) / 1000),
    OldestQueued: Math.round((now - Math.min(now, ...queued)) / 1000),
  });
}

/**
 * Returns the entities with a running job, or a sleeping job in the queue. Their next jobs wait for that job, not for a
 * worker.
 */
async function blockedEntities(jobs: JobStore, now: number): Promise<Set<string>> {
  const by = now + LONGEST_SLEEP_MS + WAKE_GRACE_MS;
  const ahead = await Promise.all([
    jobs.list('running', { limit: COUNTED_UP_TO }),
    jobs.list('waiting', { by, limit: COUNTED_UP_TO }),
  ]);
  return new Set(ahead.flat().map(({ entity }) => entity));
}

export interface Standstill {
  isPaused: boolean;
  refusesKey: boolean;
  operations: readonly string[];
}

/** Returns how much of its budget a connection has used, as metrics, and what is stopped. */
export async function stateOfConnection(name: string, limits: Limits, stores: Parameters<typeof viewConnection>[2]) {
  const { minute, day, pausedUntil, stopped, isStopped, refusesKey, failing } = await viewConnection(
    name,
    limits,
    stores,
  );
  const standstill: Standstill = {
    isPaused: pausedUntil !== null || isStopped,
    refusesKey,
    operations: stopped.flatMap(({ operation }) => operation ?? []),
  };
  const used = {
    MinuteBudgetUsed: (100 * minute.used) / minute.limit,
    DayBudgetUsed: (100 * day.used) / day.limit,
    ConnectionPaused: standstill.isPaused ? 1 : 0,
    OperationsStopped: standstill.operations.length,
  };
  const down = stopped.find(({ operation }) => operation === undefined);
  return { used, standstill, health: { down, isFailing: failing !== undefined } };
}
