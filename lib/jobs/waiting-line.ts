import type { Budget, LinePlan } from '../budget/budget.ts';
import type { Lane } from '../budget/lanes.ts';
import { type Limits, MINUTE } from '../budget/window.ts';
import type { Breaker, Breakers } from '../connection/breakers.ts';
import { inBatches } from './batches.ts';
import type { JobStore, StandingJob } from './job-store.ts';
import type { JobQueue } from './queue.ts';

/** A job is called this long before its slot: SQS counts whole seconds and wakes a message up to three seconds late. */
const LEAD_MS = 5_000;
/** Only the jobs of the next two minutes are called; the times of the others are not known yet. */
const CALLED_AHEAD_MS = 120_000;
/** A job that was called and has not come by then does not take its slot any more. */
const LATE_MS = 60_000;

/** While a person waits, a connection that is down is probed at least this often. */
const PROBED_FOR_PEOPLE_MS = 60_000;

/** A job, and when the slot opens that it is called for. */
interface Call {
  job: StandingJob;
  slotAt: number;
}

/**
 * The jobs that wait for the budget of a connection. They stand in line in the order in which their events came, without
 * a time of their own; only those whose slots open within the next two minutes are called, people first.
 */
export interface WaitingLines {
  /**
   * Calls the next jobs of a connection. Running it twice or late does no harm.
   * @param atOnce even if the line was moved a few seconds ago: the connection works again
   * @returns the ids of the called jobs
   * @throws {BudgetUnavailable}
   */
  moveOn(connection: { name: string; limits: Limits }, atOnce?: boolean): Promise<string[]>;
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
      const read = (lane: Lane) => jobs.line(name, lane, 2 * limits.perMinute);
      const [interactive, background] = await Promise.all([read('interactive'), read('background')]);
      const lines = [interactive, background];
      await budget.noteLines(name, { interactive: interactive.length > 0, background: background.length > 0 });
      const down = await breakers.view(name);
      const calls = nextCalls(lines, down ? probePlan(down) : plan, MINUTE / limits.perMinute / 2, clock());
      // A probe that came early would find the connection still closed.
      const called = await inBatches(calls, (one) => call(one, down ? 0 : LEAD_MS));
      return called.filter((id) => id !== undefined);
    },
  };
}

/** While a connection is down, one job at a time finds out whether it works again, and sooner if a person waits. */
function probePlan({ until, probedAt }: Breaker): LinePlan {
  const soon = Math.min(until, probedAt + PROBED_FOR_PEOPLE_MS);
  return { slotTime: (lane: Lane, ahead) => (ahead > 0 ? undefined : lane === 'interactive' ? soon : until) };
}

/**
 * The jobs to be called now. Those of the same lane that are on their way are ahead of them, and people are ahead of all.
 * @param standing the lines by lane, people first
 * @param apartMs the shortest time between two slots: after a burst a minute's slots open all at once, and workers that
 * all write the budget at once hinder one another
 */
function nextCalls(standing: readonly StandingJob[][], plan: LinePlan, apartMs: number, now: number): Call[] {
  const calls: Call[] = [];
  let ahead = 0;
  let last = 0;
  for (const line of standing) {
    ahead += line.filter(({ slotAt }) => slotAt !== undefined && slotAt + LATE_MS > now).length;
    for (const job of line) {
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
