import type { Budget, LinePlan } from '../budget/budget.ts';
import { isOfPeople, type Lane, lanes } from '../budget/lanes.ts';
import { type Limits, MINUTE } from '../budget/window.ts';
import type { Breaker, Breakers } from '../connection/breakers.ts';
import { inBatches } from './batches.ts';
import type { Job } from './job.ts';
import type { JobStore, StandingJob } from './job-store.ts';
import type { JobQueue } from './queue.ts';

/**
 * A job is called this long before its slot: SQS counts whole seconds and wakes a message up to three seconds late.
 * Further commands share the workers with first ones, and backfills with events; they must not keep these waiting.
 */
const LEAD_MS: Readonly<Record<Lane, number>> = {
  interactive: 7_000,
  further: 1_000,
  background: 7_000,
  backfill: 1_000,
};
/** Only the jobs of the next two minutes are called; the times of the others are not known yet. */
const CALLED_AHEAD_MS = 120_000;
/** A job that was called and has not come by then does not take its slot any more. */
const LATE_MS = 60_000;

/** How many jobs are tried when a slot is passed on. */
const PASSED_ON_AMONG = 8;
/** While a person waits, a connection that is down is probed at least this often. */
const PROBED_FOR_PEOPLE_MS = 60_000;

/** A job, and when the slot opens that it is called for. */
interface Call {
  job: StandingJob;
  slotAt: number;
}

/**
 * The jobs that wait for the budget of a connection. They stand in line in the order in which their events came, without
 * a time of their own; only those whose slots open within the next two minutes are called, people first, and of people
 * one job of each in turn.
 */
export interface WaitingLines {
  /**
   * Calls the next jobs of a connection. Running it twice or late does no harm.
   * @param atOnce even if the line was moved a few seconds ago: the connection works again
   * @returns the ids of the called jobs
   * @throws {BudgetUnavailable}
   */
  moveOn(connection: { name: string; limits: Limits }, atOnce?: boolean): Promise<string[]>;
  /** Gives the slot that a job was called for to the next in its line: the job had nothing to send. */
  passOn(job: Job & { slotAt: number }, limits: Limits): Promise<void>;
}

export interface WaitingLinesOptions {
  jobs: JobStore;
  queue: JobQueue;
  budget: Budget;
  breakers: Breakers;
  clock: () => number;
}

export function createWaitingLines({ jobs, queue, budget, breakers, clock }: WaitingLinesOptions): WaitingLines {
  async function call({ job, slotAt }: Call, leadMs: number): Promise<string | undefined> {
    const called = await jobs.callFromLine(job, Math.max(clock(), slotAt - leadMs), slotAt);
    if (called) await queue.send(called);
    return called?.id;
  }

  return {
    async moveOn({ name, limits }, atOnce = false) {
      const plan = await budget.planLine(name, limits, atOnce);
      if (!plan) return [];
      const lines = await Promise.all(lanes.map((lane) => jobs.line(name, lane, 2 * limits.perMinute)));
      await budget.noteLines(
        name,
        lanes.filter((_, index) => lines[index]?.length),
      );
      const down = await breakers.view(name);
      const calls = nextCalls(lines, down ? probePlan(down) : plan, MINUTE / limits.perMinute, clock());
      // A probe that came early would find the connection still closed.
      const called = await inBatches(calls, (one) => call(one, down ? 0 : LEAD_MS[one.job.lane]));
      return called.filter((id) => id !== undefined);
    },
    async passOn({ connection, lane, slotAt }, limits) {
      const standing = await jobs.line(connection, lane, 2 * limits.perMinute);
      // Others may pass a slot on at the same time, and then the first in line is called already.
      for (const job of standing.filter((one) => one.slotAt === undefined).slice(0, PASSED_ON_AMONG)) {
        if (await call({ job, slotAt: Math.max(slotAt, clock()) }, LEAD_MS[lane])) return;
      }
    },
  };
}

/** While a connection is down, one job at a time finds out whether it works again, and sooner if a person waits. */
function probePlan({ until, probedAt }: Breaker): LinePlan {
  const soon = Math.min(until, probedAt + PROBED_FOR_PEOPLE_MS);
  return { slotTime: (lane: Lane, ahead) => (ahead > 0 ? undefined : isOfPeople(lane) ? soon : until) };
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
    ahead += line.filter(({ slotAt }) => slotAt !== undefined && slotAt + LATE_MS > now).length;
    for (const job of inTurns(line)) {
      if (job.slotAt !== undefined) continue;
      const opensAt = plan.slotTime(job.lane, ahead);
      if (opensAt === undefined || opensAt > now + CALLED_AHEAD_MS) break;
      const slotAt = Math.max(opensAt, last + apartMs);
      calls.push({ job, slotAt });
      last = slotAt;
      ahead++;
    }
  }
  return calls;
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
