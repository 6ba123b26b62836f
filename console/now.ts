import { countJobs, countLine, countOf, READ_TO_COUNT } from '../lib/engine/operate/job-counts.ts';
import { waitFromFirst } from '../lib/engine/record/history.ts';
import { endedAt, type Job, type JobStatus, jobStatuses, queuedSince } from '../lib/engine/record/job.ts';
import { lineOf } from '../lib/engine/record/job-lists.ts';
import { createBudget } from '../lib/service/budget/budget.ts';
import { isOfPeople, lanes } from '../lib/service/budget/lanes.ts';
import { usedUpAt } from '../lib/service/budget/used-up.ts';
import type { Limits, Window } from '../lib/service/budget/window.ts';
import { causesOf } from '../lib/service/connection/breaker-item.ts';
import { type ConnectionView, viewConnection } from '../lib/service/connection/connection-view.ts';
import { partnerSecret } from '../lib/state/secrets/partner-secrets.ts';
import { jobsByStatus } from '../lib/state/table/keys.ts';
import { heldJobs, readWaiting } from './held-jobs.ts';
import type { ConsoleRelay, OperatedRelay } from './relay.ts';
import { rowsOf } from './row.ts';
import { schedulesNow } from './schedules.ts';

/** How often CloudFormation is asked. The whole account shares its limits. */
const ASKED_EVERY_MS = 60_000;

/** Ten minutes, as in the budget's counts of a day. */
const PART_MS = 600_000;
const PARTS = 6;
/** The most calls that a connection sends in that time. */
const MOST_COUNTED = 1_200;
const INDEX_LAGS_MS = 10_000;
const NEWEST = 10;

const endings = ['succeeded', 'not-done', 'parked'] as const;
type Ending = (typeof endings)[number];

/** @returns a function that reads what the relay is doing now */
export function createNowReader(relay: OperatedRelay & Pick<Partial<ConsoleRelay>, 'try'>) {
  const { stores, runtime } = relay;
  const { clock } = runtime;
  const { table, jobs, secrets } = stores;
  const budget = createBudget({ table, clock });
  /** Read only once: otherwise, an operator without rights on secrets would get a refusal every few seconds. */
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
      // The screen can show everything else without this answer.
      asked = { at: clock(), stopped: relay.stopped().catch(() => null) };
    }
    return asked.stopped;
  }

  async function heldOf(connection: string, view: ConnectionView, waiting: readonly Job[]) {
    const { standing, read } = await heldJobs(connection, view, waiting, jobs);
    return {
      ...countOf(standing.length),
      // In people's lanes, the entity is the person.
      people: new Set(standing.filter(({ lane }) => isOfPeople(lane)).map(({ entity }) => entity)).size,
      oldestSince: least(read.map(waitsSince)),
      rows: await rowsOf(read, relay),
    };
  }

  async function connectionNow(connection: string, limits: Limits, queued: readonly Job[], waiting: readonly Job[]) {
    const [view, { day }, lines, service] = await Promise.all([
      viewConnection(connection, limits, { budget, table, clock }),
      budget.windows(connection),
      Promise.all(lanes.map(async (lane) => ({ lane, inLine: await countLine(jobs, connection, lane) }))),
      serviceOf(connection),
    ]);
    const { minute, pausedUntil, refusesKey, failing, assumed } = view;
    return {
      connection,
      /** Undefined if this console may not read the secret with the address. */
      service,
      minute,
      day: view.day,
      dayCalls: callsOfDay(day, clock()),
      pausedUntil,
      refusesKey,
      failing: failing && { why: failing.why, at: failing.failedAt ?? failing.since },
      assumed,
      /** When the day's limit will be used up, at the pace of the last hour. */
      dayUsedUpAt: usedUpAt(day, limits.perDay, clock()) ?? null,
      stopped: causesOf(view.stopped).map(({ operation, since, why, until, probedAt, refusesKey }) => ({
        ...{ operation, since, why, refusesKey },
        triedAt: probedAt,
        /** When the next probe may be sent. */
        until,
      })),
      held: await heldOf(connection, view, waiting),
      lanes: lines.map(({ lane, inLine }) => {
        const { left, nextSlotAt } = view.lanes[lane];
        const line = lineOf(connection, lane);
        const inQueue = queued.filter((job) => job.connection === connection && job.lane === lane);
        return {
          lane,
          /** Calls that can be sent at once. */
          left,
          nextSlotAt: Number.isFinite(nextSlotAt) ? nextSlotAt : null,
          inLine,
          oldestSince: least(waiting.filter((job) => job.line === line).map(waitsSince)),
          /** Jobs that wait for a worker, not for the budget. */
          queued: { jobs: inQueue.length, more: countOf(queued.length).more },
          queuedSince: least(inQueue.map(queuedSince)),
        };
      }),
    };
  }

  /** Final counts of past parts of the hour, by status and beginning. */
  const counted = new Map<string, number>();

  async function countEnded(status: Ending, from: number): Promise<number> {
    const key = `${status} ${from}`;
    const known = counted.get(key);
    if (known !== undefined) return known;
    const to = from + PART_MS - 1;
    const expression = '#status = :status AND #wakeAt BETWEEN :from AND :to';
    const many = await table.countIndex(jobsByStatus.name, { expression, values: { status, from, to } }, MOST_COUNTED);
    // Not final: the index lags behind, and a parked job may continue.
    if (status !== 'parked' && to < clock() - INDEX_LAGS_MS) counted.set(key, many);
    return many;
  }

  /** Counts the jobs that ended or were parked in the last hour, in parts. The last part is not over yet. */
  async function lastHour() {
    const last = Math.floor(clock() / PART_MS) * PART_MS;
    const parts = Array.from({ length: PARTS }, (_, index) => last - (PARTS - 1 - index) * PART_MS);
    for (const key of counted.keys()) if (Number(key.split(' ')[1]) < last - PARTS * PART_MS) counted.delete(key);
    const counts = endings.map(async (status) => {
      return [status, await Promise.all(parts.map((from) => countEnded(status, from)))] as const;
    });
    return { from: parts[0] ?? last, partMs: PART_MS, jobs: Object.fromEntries(await Promise.all(counts)) };
  }

  /** The jobs that changed last, without those held by an outage. */
  async function newest(waiting: readonly Job[], held: ReadonlySet<string>) {
    const found = await Promise.all(
      jobStatuses.map((status) => jobs.list(status, { limit: NEWEST, newestFirst: true })),
    );
    const at = (job: Job) => endedAt(job) ?? job.createdAt;
    const all = new Map([...waiting, ...found.flat()].map((job) => [job.id, job]));
    const shown = [...all.values()].filter(({ id }) => !held.has(id));
    return rowsOf(shown.toSorted((a, b) => at(b) - at(a)).slice(0, NEWEST), relay);
  }

  return async () => {
    const [queued, waiting, [firstParked]] = await Promise.all([
      jobs.list('queued', { limit: READ_TO_COUNT }),
      readWaiting(jobs),
      jobs.list('parked', { limit: 1 }),
    ]);
    const [counts, connections, stopped, hour, schedules] = await Promise.all([
      countJobs(table),
      Promise.all(
        Object.entries(runtime.config.connections).map(([name, { limits }]) =>
          connectionNow(name, limits, queued, waiting),
        ),
      ),
      stoppedNow(),
      lastHour(),
      schedulesNow(relay),
    ]);
    /** Since when the oldest job of each status has had that status, or has waited. */
    const oldest: Partial<Record<JobStatus, number | null>> = {
      queued: least(queued.map(queuedSince)),
      waiting: least(waiting.map(waitsSince)),
      parked: firstParked?.wakeAt,
    };
    const held = new Set(connections.flatMap((one) => one.held.rows.map(({ id }) => id)));
    const isBrokenInTry = relay.try?.isBroken() ?? false;
    const recent = await newest(waiting, held);
    return { at: clock(), connections, counts, oldest, stopped, isBrokenInTry, hour, recent, schedules };
  };
}

/** Since when a waiting job has waited for the same thing. */
const waitsSince = ({ waits, createdAt }: Job) => (waits && waitFromFirst(waits)?.from) ?? createdAt;

const least = (times: readonly number[]) => (times.length === 0 ? null : Math.min(...times));

/** The calls of every part of the day, including parts without calls. */
function callsOfDay({ first, bucketMs, lengthMs, calls }: Window, now: number): number[] {
  const last = Math.floor(now / bucketMs);
  const parts = lengthMs / bucketMs;
  return Array.from({ length: parts }, (_, index) => calls[last - parts + 1 + index - first] ?? 0);
}
