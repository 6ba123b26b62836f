import { countJobs, countLine, countOf, READ_TO_COUNT } from '../lib/engine/operate/job-counts.ts';
import { endedAt, type Job, jobStatuses } from '../lib/engine/record/job.ts';
import { createBudget } from '../lib/service/budget/budget.ts';
import { lanes } from '../lib/service/budget/lanes.ts';
import { usedUpAt } from '../lib/service/budget/used-up.ts';
import type { Limits, Window } from '../lib/service/budget/window.ts';
import { viewConnection } from '../lib/service/connection/connection-view.ts';
import { partnerSecret } from '../lib/state/secrets/partner-secrets.ts';
import { jobsByStatus } from '../lib/state/table/keys.ts';
import type { OperatedRelay } from './relay.ts';
import { rowsOf } from './row.ts';
import { schedulesNow } from './schedules.ts';

/** How often CloudFormation is asked, whose limits all of the account share. */
const ASKED_EVERY_MS = 60_000;

/** The budget counts the calls of a day in parts of ten minutes, too. */
const PART_MS = 600_000;
const PARTS = 6;
/** A connection sends 1,200 calls in that time. */
const MOST_COUNTED = 1_200;
const INDEX_LAGS_MS = 10_000;
const NEWEST = 10;

const endings = ['succeeded', 'not-done', 'parked'] as const;
type Ending = (typeof endings)[number];

/** @returns what reads what the relay is doing now */
export function createNowReader(relay: OperatedRelay) {
  const { stores, runtime } = relay;
  const { clock } = runtime;
  const { table, jobs, secrets } = stores;
  const budget = createBudget({ table, clock });
  /** Read once: an operator who may not read secrets would otherwise be refused every few seconds. */
  const services = new Map<string, Promise<string | undefined>>();

  function serviceOf(connection: string): Promise<string | undefined> {
    const known =
      services.get(connection) ??
      secrets.current(`partner/${connection}`, partnerSecret).then(
        ({ baseUrl }) => baseUrl,
        () => undefined,
      );
    services.set(connection, known);
    return known;
  }

  let asked = { at: Number.NEGATIVE_INFINITY, stopped: Promise.resolve<string | null>(null) };

  function stoppedNow(): Promise<string | null> {
    if (relay.stopped && clock() - asked.at >= ASKED_EVERY_MS) {
      // The rest can be shown without it.
      asked = { at: clock(), stopped: relay.stopped().catch(() => null) };
    }
    return asked.stopped;
  }

  async function connectionNow(connection: string, limits: Limits, queued: readonly Job[]) {
    const [view, { day }, lines, service] = await Promise.all([
      viewConnection(connection, limits, { budget, table, clock }),
      budget.windows(connection),
      Promise.all(lanes.map(async (lane) => ({ lane, ...(await countLine(jobs, connection, lane)) }))),
      serviceOf(connection),
    ]);
    return {
      connection,
      /** Missing if this console may not read the secret that says so. */
      service,
      minute: view.minute,
      day: view.day,
      dayCalls: callsOfDay(day, clock()),
      pausedUntil: view.pausedUntil,
      refusesKey: view.refusesKey,
      failing: view.failing,
      assumed: view.assumed,
      /** When the day's limit is used up at the pace of the last hour. */
      dayUsedUpAt: usedUpAt(day, limits.perDay, clock()) ?? null,
      stopped: view.stopped.map(({ operation, since, why, until, refusesKey }) => ({
        ...{ operation, since, why, refusesKey },
        /** When the next probe may be sent. */
        until,
      })),
      lanes: lines.map(({ lane, inLine, oldestSince }) => {
        const { left, nextSlotAt } = view.lanes[lane];
        const inQueue = queued.filter((job) => job.connection === connection && job.lane === lane);
        return {
          lane,
          /** Calls that can be sent at once. */
          left,
          nextSlotAt: Number.isFinite(nextSlotAt) ? nextSlotAt : null,
          inLine,
          oldestSince: oldestSince ?? null,
          /** Jobs that wait for a worker and not for the budget. */
          queued: { jobs: inQueue.length, more: countOf(queued.length).more },
          queuedSince: inQueue.length > 0 ? Math.min(...inQueue.map(({ createdAt }) => createdAt)) : null,
        };
      }),
    };
  }

  /** The numbers of parts of an hour that are over, which do not change any more, by status and beginning. */
  const counted = new Map<string, number>();

  async function countEnded(status: Ending, from: number): Promise<number> {
    const key = `${status} ${from}`;
    const known = counted.get(key);
    if (known !== undefined) return known;
    const to = from + PART_MS - 1;
    const expression = '#status = :status AND #wakeAt BETWEEN :from AND :to';
    const many = await table.countIndex(jobsByStatus.name, { expression, values: { status, from, to } }, MOST_COUNTED);
    // The index lags behind, and a parked job may go on.
    if (status !== 'parked' && to < clock() - INDEX_LAGS_MS) counted.set(key, many);
    return many;
  }

  /** The jobs that ended or were parked in the last hour, in parts: the last is the one that goes on. */
  async function lastHour() {
    const last = Math.floor(clock() / PART_MS) * PART_MS;
    const parts = Array.from({ length: PARTS }, (_, index) => last - (PARTS - 1 - index) * PART_MS);
    for (const key of counted.keys()) if (Number(key.split(' ')[1]) < last - PARTS * PART_MS) counted.delete(key);
    const counts = endings.map(async (status) => {
      return [status, await Promise.all(parts.map((from) => countEnded(status, from)))] as const;
    });
    return { from: parts[0] ?? last, partMs: PART_MS, jobs: Object.fromEntries(await Promise.all(counts)) };
  }

  /** The jobs to which something happened last. */
  async function newest() {
    const found = await Promise.all(
      jobStatuses.map((status) => jobs.list(status, { limit: NEWEST, newestFirst: true })),
    );
    const at = (job: Job) => endedAt(job) ?? job.createdAt;
    const sorted = found.flat().toSorted((a, b) => at(b) - at(a));
    return rowsOf(sorted.slice(0, NEWEST), relay);
  }

  return async () => {
    /** The jobs in the queue, oldest first. */
    const queued = await jobs.list('queued', { limit: READ_TO_COUNT });
    const [counts, connections, stopped, hour, recent, schedules] = await Promise.all([
      countJobs(table),
      Promise.all(
        Object.entries(runtime.config.connections).map(([name, { limits }]) => connectionNow(name, limits, queued)),
      ),
      stoppedNow(),
      lastHour(),
      newest(),
      schedulesNow(relay),
    ]);
    return { at: clock(), connections, counts, stopped, hour, recent, schedules };
  };
}

/** Every part of the day, also those without a call. */
function callsOfDay({ first, bucketMs, lengthMs, calls }: Window, now: number): number[] {
  const last = Math.floor(now / bucketMs);
  const parts = lengthMs / bucketMs;
  return Array.from({ length: parts }, (_, index) => calls[last - parts + 1 + index - first] ?? 0);
}
