import * as z from 'zod/mini';
import { inputOf, type Trigger } from './trigger.ts';

const fields = {
  /** The date in the time zone of the schedule: `2026-11-23`. */
  date: z.string(),
  /** The time that it was due: ISO 8601 in UTC. */
  at: z.string(),
};

export interface ScheduleTrigger extends Trigger<'schedule', { date: string; at: string }> {
  cron: string;
  timeZone: string;
  connection: string | undefined;
}

/**
 * Makes a job at each time of a cron expression: `schedule('0 9 * * MON', 'Europe/Berlin')`.
 *
 * - A time that daylight saving skips is due when the clock goes on. A fixed time that it repeats is due the first time,
 *   and `*` or a step in the minutes or hours goes on through both.
 * - Times of the last 24 hours that the relay missed, because it was stopped or asleep, are made up for, one job each.
 * - A new file makes no jobs for earlier times, and neither does one whose expression or time zone has changed.
 *
 * @param cron minute, hour, day of the month, month, day of the week. The relay looks every 15 minutes, so minutes are 0,
 *   15, 30 or 45
 * @param timeZone of the IANA database
 * @param of.connection required where relay.config.ts has several
 */
export const schedule = (cron: string, timeZone: string, of: { connection?: string } = {}): ScheduleTrigger => ({
  kind: 'schedule',
  cron,
  timeZone,
  connection: of.connection,
  input: inputOf(fields),
});
