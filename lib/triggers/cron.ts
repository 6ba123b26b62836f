import { Cron } from 'croner';

/** Own schedules are looked at this often, so nothing can be due more often, or between. */
export const TICK_MINUTES = 15;
const TICK_MS = TICK_MINUTES * 60_000;
/** Enough to see a time between two ticks, also after a change of daylight saving. */
const LOOKED_AT = 200;

/**
 * The times of a cron expression after `from` and up to `to`, in epoch milliseconds. A time that daylight saving skips is
 * due when the clock goes on; a fixed time that it repeats is due the first time. https://github.com/hexagon/croner
 */
export function timesOf(cron: string, timeZone: string, from: number, to: number): number[] {
  const times: number[] = [];
  const schedule = new Cron(cron, { mode: '5-part', timezone: timeZone, paused: true });
  for (let next = schedule.nextRun(new Date(from)); next && +next <= to; next = schedule.nextRun(next))
    times.push(+next);
  return times;
}

/** When it is due after that time, in epoch milliseconds; undefined if it never is. */
export function nextTimeOf(cron: string, timeZone: string, after: number): number | undefined {
  return new Cron(cron, { mode: '5-part', timezone: timeZone, paused: true }).nextRun(new Date(after))?.getTime();
}

/** @returns why a schedule can never be used as it is, or undefined */
export function scheduleFault(cron: string, timeZone: string, now: number): string | undefined {
  let times: Date[];
  try {
    times = new Cron(cron, { mode: '5-part', timezone: timeZone, paused: true }).nextRuns(LOOKED_AT, new Date(now));
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error);
    return `the cron expression '${cron}' cannot be read: ${why}. Write minute, hour, day of the month, month and day of the week, such as '0 9 * * MON'`;
  }
  if (times.length === 0) return `the cron expression '${cron}' never comes`;
  if (times.every((time) => +time % TICK_MS === 0)) return undefined;
  return `the cron expression '${cron}' is finer than the relay looks, every ${TICK_MINUTES} minutes; its minutes can be 0, 15, 30 and 45`;
}
