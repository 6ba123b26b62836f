import * as z from 'zod/mini';
import { inputOf, type Trigger } from './trigger.ts';

const fields = {
  /** The date in the schedule's time zone: `2026-11-23`. */
  date: z.string(),
  /** When it was due: ISO 8601 in UTC. */
  at: z.string(),
};

export interface ScheduleTrigger extends Trigger<'schedule', { date: string; at: string }> {
  cron: string;
  timeZone: string;
  connection: string | undefined;
}

/**
 * Creates a job at each time of a cron expression: `schedule('0 9 * * MON', 'Europe/Berlin')`.
 *
 * - A time that daylight saving skips is due when the clock jumps. A fixed time that it repeats is due the first time,
 *   but `*` or a step in the minutes or hours is due both times.
 * - If the relay was stopped or asleep, it creates a job for each missed time of the last 24 hours.
 * - A new file creates no jobs for earlier times, nor does a file with a changed expression or time zone.
 *
 * @param cron minute, hour, day of the month, month, day of the week. The relay looks every 15 minutes, so the minutes
 *   can be 0, 15, 30 and 45
 * @param timeZone from the IANA database
 * @param of.connection required if relay.config.ts has several
 */
export const schedule = (cron: string, timeZone: string, of: { connection?: string } = {}): ScheduleTrigger => ({
  kind: 'schedule',
  cron,
  timeZone,
  connection: of.connection,
  input: inputOf(fields),
});
