import {
  type Budget,
  CALLED_AHEAD_MS,
  createBudget,
  INDEX_LAG_MS,
  type LinePlan,
} from '../../service/budget/budget.ts';
import { isOfPeople, type Lane, lanes } from '../../service/budget/lanes.ts';
import { type Limits, MINUTE } from '../../service/budget/window.ts';
import type { Breaker } from '../../service/connection/breaker-item.ts';
import { type Breakers, callsPersonAt, callsProberAt, createBreakers } from '../../service/connection/breakers.ts';
import type { Table } from '../../state/table/table.ts';
import { UnreadableItem } from '../../state/table/unreadable-item.ts';
import type { Job } from '../record/job.ts';
import type { StandingJob } from '../record/job-item.ts';
import { operationOfLine } from '../record/job-lists.ts';
import type { JobStore } from '../record/job-store.ts';
import { inBatches, type JobQueue } from './queue.ts';

/**
 * A job is called this long before its slot, because SQS counts whole seconds and wakes a message up to three seconds
 * late. Further commands share workers with first commands, and backfills share them with events, and must not delay
 * them.
 */
const LEAD_MS: Readonly<Record<Lane, number>> = {
  interactive: 7_000,
  further: 1_000,
  background: 7_000,
  backfill: 1_000,
};
/** If a called job has not arrived by then, it no longer takes its slot. */
const GONE_MS = 60_000;
/** A called job that no worker has by then, after its slot has opened, waits for a worker. */
const LATE_MS = 4_000;
/** With so many late jobs, a line calls only one more each time: more would only keep other lines waiting for workers. */
const MANY_LATE = 2;
/** How much later than otherwise that one comes. */
const HELD_BACK_MS = 3_000;
/** A prober is called by the move before its probe: the sweep moves the lines every minute. */
const PROBER_CALLED_AHEAD_MS = MINUTE;

/** How often an empty line is read again, within seconds, because its index may not show a new job yet. */
const MOST_LOOKS = 3;

/** How many jobs are tried when a slot is passed on. */
const PASSED_ON_AMONG = 8;

interface Connected {
  name: string;
  limits: Limits;
}

/** A job, and when the slot opens that it is called for. */
interface Call {
  job: StandingJob;
  slotAt: number;
}

/** A job that has just been put into a line, whose index may not show it yet. */
export interface Joined {
  job: StandingJob;
  /** If it stands in the line of an operation that fails. */
  operation?: string | undefined;
}

/**
 * The jobs that wait for the budget of a connection, or for an operation that fails. They stand in line in the order in
 * which their events came, without a time of their own; only those whose slots open within the next two minutes are
 * called, people first, and of people one job of each in turn. While the connection or the operation does not work, one
 * job is called for each probe.
 *
 * A called job is always on the way to a line with jobs and a slot to come. Its run moves the lines on.
 */
export type WaitingLines = ReturnType<typeof createWaitingLines>;

interface WaitingLinesOptions {
  jobs: JobStore;
  queue: JobQueue;
  budget: Budget;
  breakers: Breakers;
  clock: () => number;
  sleep?: (ms: number) => Promise<unknown>;
}

/** The lines for a command of an operator, which makes no call. */
export function openWaitingLines(
  { table, jobs, queue, clock }: Pick<WaitingLinesOptions, 'jobs' | 'queue' | 'clock'> & { table: Table },
  { random = Math.random, sleep = wait } = {},
) {
  const breakers = createBreakers({ table, clock, random });
  return createWaitingLines({ jobs, queue, budget: createBudget({ table, random, sleep }), breakers, clock, sleep });
}

export function createWaitingLines({ jobs, queue, budget, breakers, clock, sleep = wait }: WaitingLinesOptions) {
  /** @param notBefore when a slot can open at the earliest */
  async function call({ job, slotAt }: Call, leadMs: number, notBefore = slotAt): Promise<string | undefined> {
    const dueAt = Math.max(clock(), slotAt - leadMs);
    // Once it is awake, the job takes the first slot that is free.
    const expectedAt = Math.max(notBefore, Math.round((dueAt + slotAt) / 2));
    const called = await jobs.callFromLine(job, dueAt, slotAt, expectedAt);
    if (called) await queue.send(called);
    return called?.id;
  }

  /** The first jobs that stand there, by lane, people first. */
  function standing({ name, limits }: Connected, joined?: Joined, operation?: string): Promise<StandingJob[][]> {
    return Promise.all(
      lanes.map(async (lane) => {
        const shown = await jobs.line(name, lane, 2 * limits.perMinute, operation);
        if (joined?.job.lane !== lane || joined.operation !== operation) return shown;
        return [...shown.filter(({ id }) => id !== joined.job.id), joined.job];
      }),
    );
  }

  async function callNext(connection: Connected, plan: LinePlan, joined?: Joined) {
    const { name, limits } = connection;
    const lookedAt = clock();
    const [own, { down, operations }] = await Promise.all([standing(connection, joined), breakers.lines(name)]);
    const lines = await Promise.all(
      operations.map(async (one) => ({ ...one, jobs: await standing(connection, joined, one.operation) })),
    );
    const moving = lines.filter(({ stopped }) => !stopped);
    for (const { operation, jobs } of moving) if (jobs.flat().length === 0) await breakers.lineEnded(name, operation);
    const merged = lanes.map((_, index) => {
      const all = [own, ...moving.map(({ jobs }) => jobs)].flatMap((jobs) => jobs[index] ?? []);
      return all.toSorted((a, b) => a.createdAt - b.createdAt);
    });
    const now = clock();
    const probers = down
      ? nextProber(merged, down, now, callsPersonAt)
      : lines.flatMap(({ stopped, jobs }) => (stopped ? nextProber(jobs, stopped, now) : []));
    const slotsOpen = !down && lanes.some((lane) => plan.slotTime(lane, 0) !== undefined);
    const late = lastLate(merged.flat(), now);
    const lacksWorkers = slotsOpen && (await waitForWorkers(late));
    const next = slotsOpen ? nextCalls(merged, plan, MINUTE / limits.perMinute, now) : [];
    const calls = lacksWorkers ? heldBack(next, now) : next;
    const standingLanes = lanes.filter((lane) => merged[lanes.indexOf(lane)]?.length);
    const comesAt = down ? undefined : lastAwakeAt(merged, calls, now);
    const noted = await budget.noteLines(name, standingLanes, lookedAt, comesAt);
    // A probe that came early would find the connection still closed.
    const called = await inBatches([...probers, ...calls], (one) =>
      call(one, probers.includes(one) ? 0 : LEAD_MS[one.job.lane], plan.pausedUntil),
    );
    const ids = called.filter((id) => id !== undefined);
    const made = calls.filter(({ job }) => ids.includes(job.id));
    if (made.length === calls.length) return { called: ids, lookAgainAt: slotsOpen || down ? noted : undefined };
    // The index does not show yet that the others are called or have ended, so none of them comes.
    const awakeAt = lastAwakeAt(merged, made, now) ?? 0;
    const stillComesAt = awakeAt > clock() ? awakeAt : undefined;
    await budget.noteLines(name, standingLanes, lookedAt, stillComesAt);
    const isComing = stillComesAt !== undefined || (await isStillCalled(made.at(-1)?.job));
    return { called: ids, lookAgainAt: isComing ? undefined : clock() + INDEX_LAG_MS };
  }

  /** A job that is awake may have ended before the lines were noted, and then it has not moved them. */
  async function isStillCalled(job: StandingJob | undefined): Promise<boolean> {
    return job !== undefined && (await calledJob(job.id)) !== undefined;
  }

  /** The job as it is now, which the index may not show yet; undefined if it is no longer called, or cannot be read. */
  async function calledJob(id: string): Promise<Job | undefined> {
    try {
      const job = await jobs.get(id);
      return job?.slotAt === undefined ? undefined : job;
    } catch (error) {
      if (error instanceof UnreadableItem) return undefined;
      throw error;
    }
  }

  /**
   * True if too few workers are there for the jobs that are called.
   * @param late from the index, which also shows those that a worker has, and may show some that have ended
   */
  async function waitForWorkers(late: readonly StandingJob[]): Promise<boolean> {
    if (late.length < MANY_LATE) return false;
    const called = await Promise.all(late.map(({ id }) => calledJob(id)));
    return called.every((job) => job?.status === 'waiting');
  }

  /** True if jobs are called from the line for slots, and not only for probes. */
  async function getsSlots(name: string, { operation }: Joined): Promise<boolean> {
    if (operation === undefined) return true;
    const { operations } = await breakers.lines(name);
    return operations.some((one) => one.operation === operation && !one.stopped);
  }

  return {
    /**
     * Calls the next jobs of a connection, unless a called job is on the way that does. Running it twice or late does no harm.
     * @param how `atOnce` to call them in any case: the connection works again. `joined` is the job that the caller has just
     * put into a line.
     * @returns the ids of the called jobs
     * @throws {BudgetUnavailable}
     */
    async moveOn(connection: Connected, { atOnce = false, joined }: { atOnce?: boolean; joined?: Joined } = {}) {
      const all: string[] = [];
      const lane = joined && (await getsSlots(connection.name, joined)) ? joined.job.lane : undefined;
      for (let looks = 1; ; looks++) {
        const how = looks === 1 ? { atOnce, joined: lane } : {};
        const plan = await budget.planLine(connection.name, connection.limits, how);
        if (!plan) return all;
        const { called, lookAgainAt } = await callNext(connection, plan, joined);
        all.push(...called);
        if (lookAgainAt === undefined || looks === MOST_LOOKS) return all;
        await sleep(lookAgainAt - clock());
      }
    },
    /**
     * When a job that joins the line now, behind all others, gets its slot.
     * @returns epoch milliseconds; undefined if too many are ahead of it to tell
     */
    async foresee({ id, connection, lane, createdAt }: Job, limits: Limits): Promise<number | undefined> {
      const most = 2 * limits.perMinute;
      const before = lanes.slice(0, lanes.indexOf(lane) + 1);
      const inLines = await Promise.all(before.map((one) => jobs.line(connection, one, most)));
      if (inLines.some(({ length }) => length === most)) return undefined;
      const isAhead = (one: StandingJob) => one.lane !== lane || one.slotAt !== undefined || one.createdAt <= createdAt;
      const ahead = inLines.flat().filter((one) => one.id !== id && isAhead(one)).length;
      return budget.foreseeSlot(connection, limits, lane, ahead);
    },
    /** True if the jobs of the line are called from it. */
    async advances(line: string, connection: string): Promise<boolean> {
      const operation = operationOfLine(line);
      if (operation === undefined) return true;
      const { operations } = await breakers.lines(connection);
      return operations.some((one) => one.operation === operation);
    },
    /** Gives the slot that a job was called for to the next in its line: the job had nothing to send. */
    async passOn({ connection, lane, slotAt }: Job & { slotAt: number }, limits: Limits): Promise<void> {
      const waiting = await jobs.line(connection, lane, 2 * limits.perMinute);
      // Others may pass a slot on at the same time, and then the first in line is called already.
      for (const job of waiting.filter((one) => one.slotAt === undefined).slice(0, PASSED_ON_AMONG)) {
        if (await call({ job, slotAt: Math.max(slotAt, clock()) }, LEAD_MS[lane])) return;
      }
    },
  };
}

/**
 * The job that makes the next probe, if it is time to call it and none is called already: a person's first, and not the last
 * one again.
 * @param personAt when a person's job is called
 */
function nextProber(
  standing: readonly StandingJob[][],
  breaker: Breaker,
  now: number,
  personAt = callsProberAt,
): Call[] {
  const all = standing.flat();
  const uncalled = all.filter(({ slotAt }) => slotAt === undefined);
  const ofPeople = uncalled.filter(({ lane }) => isOfPeople(lane));
  const candidates = ofPeople.length > 0 ? ofPeople : uncalled;
  const slotAt = Math.max((ofPeople.length > 0 ? personAt : callsProberAt)(breaker), now);
  // A job that is called for a later time, by a longer pause, does not count.
  const isCalled = all.some((job) => job.slotAt !== undefined && isComing(job.slotAt, now) && job.slotAt <= slotAt);
  const job = candidates.find(({ id }) => id !== breaker.prober) ?? candidates[0];
  return job && !isCalled && slotAt <= now + PROBER_CALLED_AHEAD_MS ? [{ job, slotAt }] : [];
}

/**
 * The jobs to be called now. Those of the same lane that are on their way are ahead of them, and people are ahead of all.
 * @param standing the lines by lane, people first
 * @param apartMs the shortest time between two slots: after a burst a minute's slots open all at once, and workers that
 * all write the budget at once hinder one another, and people would have to be left more slots until the next burst
 */
function nextCalls(standing: readonly StandingJob[][], plan: LinePlan, apartMs: number, now: number): Call[] {
  const calls: Call[] = [];
  let ahead = 0;
  let last = 0;
  for (const line of standing) {
    ahead += line.filter(({ slotAt }) => slotAt !== undefined && isComing(slotAt, now)).length;
    for (const job of inTurns(line)) {
      if (job.slotAt !== undefined) continue;
      const opensAt = plan.slotTime(job.lane, ahead);
      if (opensAt === undefined) break;
      const slotAt = Math.max(opensAt, last + apartMs);
      calls.push({ job, slotAt });
      last = slotAt;
      ahead++;
    }
  }
  return calls;
}

/**
 * By when a called job is awake in each line, the earliest: it moves the lines on in time for the next of its lane. A job
 * that is awake already may have ended, and the index may not show it yet.
 */
function lastAwakeAt(standing: readonly StandingJob[][], calls: readonly Call[], now: number): number | undefined {
  const awake = lanes.flatMap((lane, index) => {
    const asleep = (standing[index] ?? []).flatMap(({ slotAt }) =>
      slotAt !== undefined && isComing(slotAt, now) && slotAt - LEAD_MS[lane] > now ? [slotAt] : [],
    );
    const called = calls.flatMap(({ job, slotAt }) => (job.lane === lane ? [slotAt] : []));
    const slots = [...asleep, ...called];
    return slots.length > 0 ? [Math.max(...slots) - LEAD_MS[lane]] : [];
  });
  return awake.length > 0 ? Math.min(...awake) : undefined;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A slot that opens much later than a job is called for cannot be. */
const isComing = (slotAt: number, now: number) => slotAt + GONE_MS > now && slotAt < now + 2 * CALLED_AHEAD_MS;

/** People's jobs, and one other job. It comes a little later, and then moves the lines on. */
function heldBack(calls: readonly Call[], now: number): Call[] {
  const firstOther = calls.find(({ job }) => !isOfPeople(job.lane));
  return calls.flatMap(({ job, slotAt }) => {
    if (isOfPeople(job.lane)) return { job, slotAt };
    const earliest = now + LEAD_MS[job.lane] + HELD_BACK_MS;
    return job === firstOther?.job ? { job, slotAt: Math.max(slotAt, earliest) } : [];
  });
}

/** The late jobs of events that were called last. If a worker has them, it has those before them, too. */
function lastLate(standing: readonly StandingJob[], now: number): StandingJob[] {
  const isLate = ({ lane, slotAt }: StandingJob) =>
    lane === 'background' && slotAt !== undefined && isComing(slotAt, now) && slotAt + LATE_MS < now;
  return standing
    .filter(isLate)
    .toSorted((a, b) => (a.slotAt ?? 0) - (b.slotAt ?? 0))
    .slice(-MANY_LATE);
}

/** One job of each person in turn, and of one person in order: the first of everyone, then the second, and so on. */
function inTurns(line: readonly StandingJob[]): StandingJob[] {
  const counts = new Map<string, number>();
  const turns = line.map((job) => {
    const person = isOfPeople(job.lane) ? job.entity : job.id;
    const turn = counts.get(person) ?? 0;
    counts.set(person, turn + 1);
    return { job, turn };
  });
  return turns.toSorted((a, b) => a.turn - b.turn).map(({ job }) => job);
}
