import { MINUTE_MS } from '../lib/dates.ts';
import { type Schedule, type ScheduleEvent, schedules } from '../lib/schedules.ts';
import type { LocalContext } from './event-source.ts';
import type { Functions } from './world/functions.ts';

export type ScheduledHandler<Result = unknown> = (
  event: ScheduleEvent,
  context: Pick<LocalContext, 'getRemainingTimeInMillis'>,
) => Promise<Result>;

/** A schedule and its function. */
export interface LocalSchedule {
  schedule: Schedule;
  handler: ScheduledHandler;
}

/** Fires the schedules on one machine. */
export type LocalSchedules = ReturnType<typeof createLocalSchedules>;

/** The function of each schedule. */
export const schedulesOf = ({ fire }: Functions): LocalSchedule[] =>
  schedules.map((schedule) => ({ schedule, handler: (event, context) => fire(schedule.slug, event, context) }));

/**
 * EventBridge Scheduler on one machine. If a schedule is still running at its next time, it does not start again. If
 * the machine sleeps through several times, only the last one is fired.
 *
 * @param functions the current ones
 * @param failed gets the errors of functions that the clock fired
 */
export function createLocalSchedules(
  functions: () => readonly LocalSchedule[],
  { clock, failed }: { clock: () => number; failed: (slug: string, error: unknown) => void },
) {
  const lastFired = new Map<string, number>();
  const running = new Map<string, Promise<unknown>>();
  let timer: NodeJS.Timeout | undefined;

  function invoke({ schedule, handler }: LocalSchedule, event: ScheduleEvent): Promise<unknown> {
    const { slug, timeoutSeconds } = schedule;
    const end = clock() + timeoutSeconds * 1000;
    const context = { getRemainingTimeInMillis: () => end - clock(), awsRequestId: '', functionName: slug };
    const run = handler(event, context).finally(() => running.delete(slug));
    running.set(slug, run);
    return run;
  }

  function tick(): void {
    for (const one of functions()) {
      const { slug } = one.schedule;
      const time = lastTime(one.schedule, clock());
      if (time <= (lastFired.get(slug) ?? 0)) continue;
      lastFired.set(slug, time);
      if (running.has(slug)) continue;
      invoke(one, { at: new Date(time).toISOString() }).catch((error) => failed(slug, error));
    }
    waitForNextMinute();
  }

  function waitForNextMinute(): void {
    timer = setTimeout(tick, MINUTE_MS - (clock() % MINUTE_MS));
  }

  return {
    /** Starts firing the schedules, by the wall clock. */
    start(): void {
      for (const { schedule } of functions()) lastFired.set(schedule.slug, lastTime(schedule, clock()));
      waitForNextMinute();
    },
    /**
     * Fires one schedule now. @returns the result of its function
     * @throws {Error} if it is already running, and any error of the function
     */
    async run(slug: string, event: ScheduleEvent): Promise<unknown> {
      const one = functions().find(({ schedule }) => schedule.slug === slug);
      if (!one) throw new Error(`there is no schedule '${slug}'`);
      if (running.has(slug)) throw new Error(`${slug} is already running; try again when it has ended`);
      return invoke(one, event);
    },
    /** Stops firing, and waits for the running functions. */
    async stop(): Promise<void> {
      clearTimeout(timer);
      await Promise.allSettled(running.values());
    },
  };
}

/** The schedule's last time, in epoch milliseconds. */
function lastTime({ everyMinutes }: Schedule, now: number): number {
  const period = everyMinutes * MINUTE_MS;
  return Math.floor(now / period) * period;
}
