import { Cron } from 'croner';
import { DAY_MS } from '../dates.ts';
import { counted, messageOf } from '../text.ts';

/** How often the relay checks a team's schedules. Nothing can be due more often, or in between. */
export const TICK_MINUTES = 15;
const TICK_MS = TICK_MINUTES * 60_000;
/** How many times to check for a time between two ticks: enough to include changes of daylight saving time. */
const LOOKED_AT = 200;

/**
 * Returns the times of a cron expression after `from` and up to `to`, in epoch milliseconds. A time that daylight
 * saving skips is due when the clock jumps. A fixed time that it repeats is due the first time.
 * https://github.com/hexagon/croner
 */
export function timesOf(cron: string, timeZone: string, from: number, to: number): number[] {
  const times = skippedTimes(cron, timeZone, from, to);
  const schedule = read(cron, timeZone);
  for (let next = schedule.nextRun(new Date(from)); next && +next <= to; next = schedule.nextRun(next))
    times.push(+next);
  return [...new Set(times)].sort((a, b) => a - b);
}

/** Returns the next time after `after`, in epoch milliseconds; undefined if there is none. */
export function nextTimeOf(cron: string, timeZone: string, after: number): number | undefined {
  const next = read(cron, timeZone).nextRun(new Date(after))?.getTime();
  return next && (skippedTimes(cron, timeZone, after, next)[0] ?? next);
}

const read = (cron: string, timeZone: string) => new Cron(cron, { mode: '5-part', timezone: timeZone, paused: true });

/**
 * Returns when the clock jumps over a time in a fixed hour. Croner misses some of these times: if the skipped times end
 * the date, as in Greenland, and if there are several in one hour. An expression for any hour has other times before
 * and after the jump.
 */
function skippedTimes(cron: string, timeZone: string, from: number, to: number): number[] {
  const isFixed = /^\s*\S+\s+[\d,-]+\s/.test(cron);
  const clock = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  const offsetAt = (ms: number) =>
    Date.parse(`${clock.format(ms).replace(' ', 'T')}Z`) - Math.floor(ms / 1_000) * 1_000;
  const times: number[] = [];
  for (let day = from; isFixed && day < to; day += DAY_MS) {
    let [before, after] = [day, Math.min(day + DAY_MS, to)];
    const [offset, skipped] = [offsetAt(before), offsetAt(after) - offsetAt(before)];
    if (skipped <= 0) continue;
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (offsetAt(middle) === offset) before = middle;
      else after = middle;
    }
    const due = read(cron, 'UTC').nextRun(new Date(after + offset - 1));
    if (due && +due < after + offset + skipped) times.push(after);
  }
  return times;
}

/** @returns why a schedule can never work as written, or undefined */
export function scheduleFault(cron: string, timeZone: string, now: number): string | undefined {
  let times: Date[];
  try {
    times = read(cron, timeZone).nextRuns(LOOKED_AT, new Date(now));
  } catch (error) {
    const parts = cron.trim().split(/\s+/).length;
    // Croner's message is used only for five parts, because Croner also accepts seconds and years.
    const why = parts === 5 ? messageOf(error).replace(/^CronPattern: |\.$/g, '') : `it has ${counted(parts, 'part')}`;
    return `the cron expression '${cron}' cannot be read: ${why}. Write five parts: minute, hour, day of the month, month and day of the week, such as '0 9 * * MON'`;
  }
  if (times.length === 0) return `the cron expression '${cron}' never matches a time`;
  if (times.every((time) => +time % TICK_MS === 0)) return undefined;
  return `the cron expression '${cron}' has a minute that the relay does not check: it looks every ${TICK_MINUTES} minutes. Its minutes can be 0, 15, 30 and 45`;
}
