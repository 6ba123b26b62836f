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
 * How long before its slot a job is called. SQS counts whole seconds and wakes a message up to three seconds late. The
 * jobs of `further` share workers with first commands, and those of `backfill` share workers with events. They come
 * later, so that they do not delay the others.
 */
const LEAD_MS: Readonly<Record<Lane, number>> = {
  interactive: 7_000,
  further: 1_000,
  background: 7_000,
  backfill: 1_000,
};
/** A called job that has not arrived this long after its slot opened no longer takes the slot. */
const GONE_MS = 60_000;
/** A called job that no worker has this long after its slot opened is late: it waits for a worker. */
const LATE_MS = 4_000;
/**
 * With this many late jobs, a line calls only one more job at a time. More would keep other lines waiting for workers.
 */
const MANY_LATE = 2;
/** How much later than usual that job comes. */
const HELD_BACK_MS = 3_000;
/** A prober is called in the last move before its probe, because the sweep moves the lines every minute. */
const PROBER_CALLED_AHEAD_MS = MINUTE;

/** How often an empty line is read again, within seconds, because its index may not show a new job yet. */
const MOST_LOOKS = 3;

/** How many jobs are tried as the new owner of a slot. */
const PASSED_ON_AMONG = 8;

interface Connected {
  name: string;
  limits: Limits;
}

/** A job, and the time of the slot that it is called for. */
interface Call {
  job: StandingJob;
  slotAt: number;
}

/** A job that has just joined a line, whose index may not show it yet. */
export interface Joined {
  job: StandingJob;
  /** Set if the job joined the line of a failing operation. */
  operation?: string | undefined;
}

/**
 * The jobs that wait for the budget of a connection, or for a failing operation. They are in the order of their events,
 * and have no time of their own. Only jobs whose slots open within the next two minutes are called: people's jobs
 * first, and one job of each person in turn. While the connection or the operation does not work, one job is called for
 * each probe.
 *
 * As long as a line has jobs and a slot ahead, a called job is on its way to it. The run of that job moves the lines
 * on.
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

/** Opens the lines for an operator's command, which makes no calls. */
export function openWaitingLines(
  { table, jobs, queue, clock }: Pick<WaitingLinesOptions, 'jobs' | 'queue' | 'clock'> & { table: Table },
  { random = Math.random, sleep = wait } = {},
) {
  const breakers = createBreakers({ table, clock, random });
  return createWaitingLines({ jobs, queue, budget: createBudget({ table, random, sleep }), breakers, clock, sleep });
}

export function createWaitingLines({ jobs, queue, budget, breakers, clock, sleep = wait }: WaitingLinesOptions) {
  /** Calls a job. @param notBefore the earliest time at which a slot can open */
  async function call({ job, slotAt }: Call, leadMs: number, notBefore = slotAt): Promise<string | undefined> {
    const dueAt = Math.max(clock(), slotAt - leadMs);
    // Once awake, the job takes the first free slot, which may be an earlier one.
    const expectedAt = Math.max(notBefore, Math.round((dueAt + slotAt) / 2));
    const called = await jobs.callFromLine(job, dueAt, slotAt, expectedAt);
    if (called) await queue.send(called);
    return called?.id;
  }

  /** Returns the first jobs in the lines of a connection or operation, by lane, people first. */
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
    // A prober is called without lead time, because an early probe would find the connection still closed.
    const called = await inBatches([...probers, ...calls], (one) =>
      call(one, probers.includes(one) ? 0 : LEAD_MS[one.job.lane], plan.pausedUntil),
    );
    const ids = called.filter((id) => id !== undefined);
    const made = calls.filter(({ job }) => ids.includes(job.id));
    if (made.length === calls.length) return { called: ids, lookAgainAt: slotsOpen || down ? noted : undefined };
    // The other jobs were called before or have ended, which the index does not show yet, so none of them comes.
    const awakeAt = lastAwakeAt(merged, made, now) ?? 0;
    const stillComesAt = awakeAt > clock() ? awakeAt : undefined;
    await budget.noteLines(name, standingLanes, lookedAt, stillComesAt);
    const isComing = stillComesAt !== undefined || (await isStillCalled(made.at(-1)?.job));
    return { called: ids, lookAgainAt: isComing ? undefined : clock() + INDEX_LAG_MS };
  }

  /** A job that is awake may have ended before the lines were noted. Such a job did not move them. */
  async function isStillCalled(job: StandingJob | undefined): Promise<boolean> {
    return job !== undefined && (await calledJob(job.id)) !== undefined;
  }

  /**
   * Reads the current record of a job, because the index may be behind. @returns undefined if the job is no longer
   * called, or its record is unreadable
   */
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
   * True if there are too few workers for the called jobs.
   * @param late from the index, which also shows jobs that a worker has, and possibly ended jobs
   */
  async function waitForWorkers(late: readonly StandingJob[]): Promise<boolean> {
    if (late.length < MANY_LATE) return false;
    const called = await Promise.all(late.map(({ id }) => calledJob(id)));
    return called.every((job) => job?.status === 'waiting');
  }

  /** True if the line calls jobs for slots. False while it only calls jobs for probes. */
  async function getsSlots(name: string, { operation }: Joined): Promise<boolean> {
    if (operation === undefined) return true;
    const { operations } = await breakers.lines(name);
    return operations.some((one) => one.operation === operation && !one.stopped);
  }

  return {
    /**
     * Calls the next jobs of a connection, unless a called job that will do so is on its way. Running it twice or late
     * is harmless.
     * @param how `atOnce` calls jobs in any case, because the connection works again. `joined` is the job that the
     * caller has just put into a line
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
        await sleep(Math.max(0, lookAgainAt - clock()));
      }
    },
    /**
     * Estimates when a job that joins the line now, behind all others, gets its slot.
     * @returns epoch milliseconds; undefined if too many jobs are ahead for an estimate
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
    /** True if jobs are still called from the line. */
    async advances(line: string, connection: string): Promise<boolean> {
      const operation = operationOfLine(line);
      if (operation === undefined) return true;
      const { operations } = await breakers.lines(connection);
      return operations.some((one) => one.operation === operation);
    },
    /** Gives the slot of a called job to the next job in its line, because the called job had nothing to send. */
    async passOn({ connection, lane, slotAt }: Job & { slotAt: number }, limits: Limits): Promise<void> {
      const waiting = await jobs.line(connection, lane, 2 * limits.perMinute);
      // Another worker may pass a slot on at the same time, so the first in line may already be called.
      for (const job of waiting.filter((one) => one.slotAt === undefined).slice(0, PASSED_ON_AMONG)) {
        if (await call({ job, slotAt: Math.max(slotAt, clock()) }, LEAD_MS[lane])) return;
      }
    },
  };
}

/**
 * Returns the job for the next probe, if it is time to call one and none is called. People's jobs come first, and a job
 * does not probe twice in a row if there is another.
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
  // A job called for a later time, after a longer pause, does not count.
  const isCalled = all.some((job) => job.slotAt !== undefined && isComing(job.slotAt, now) && job.slotAt <= slotAt);
  const job = candidates.find(({ id }) => id !== breaker.prober) ?? candidates[0];
  return job && !isCalled && slotAt <= now + PROBER_CALLED_AHEAD_MS ? [{ job, slotAt }] : [];
}

/**
 * Returns the jobs to call now. Called jobs of the same lane come before them, and people's jobs before all others.
 * @param standing the lines by lane, people first
 * @param apartMs the shortest time between two slots. After a burst, the slots of a minute open all at once. Workers
 * that all write the budget at once would slow each other down, and more slots would have to stay free for people until
 * the next burst
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
 * Returns the earliest time at which the last called job of a line is awake. That job moves the lines on in time for
 * the next job of its lane. Jobs that are already awake do not count: they may have ended, and the index may not show
 * it yet.
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

/** True if the slot is near. A slot that opens much later than jobs are called cannot be right. */
const isComing = (slotAt: number, now: number) => slotAt + GONE_MS > now && slotAt < now + 2 * CALLED_AHEAD_MS;

/** Returns people's jobs and only one other job, which comes a little later and then moves the lines on. */
function heldBack(calls: readonly Call[], now: number): Call[] {
  const firstOther = calls.find(({ job }) => !isOfPeople(job.lane));
  return calls.flatMap(({ job, slotAt }) => {
    if (isOfPeople(job.lane)) return { job, slotAt };
    const earliest = now + LEAD_MS[job.lane] + HELD_BACK_MS;
    return job === firstOther?.job ? { job, slotAt: Math.max(slotAt, earliest) } : [];
  });
}

/**
 * Returns the late jobs of events that were called last. If a worker has them, then workers have the earlier ones, too.
 */
function lastLate(standing: readonly StandingJob[], now: number): StandingJob[] {
  const isLate = ({ lane, slotAt }: StandingJob) =>
    lane === 'background' && slotAt !== undefined && isComing(slotAt, now) && slotAt + LATE_MS < now;
  return standing
    .filter(isLate)
    .toSorted((a, b) => (a.slotAt ?? 0) - (b.slotAt ?? 0))
    .slice(-MANY_LATE);
}

/** Orders jobs so that each person has one job in turn: the first of everyone, then the second, and so on. */
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
