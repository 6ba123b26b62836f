import { Temporal } from 'temporal-polyfill';
import type { Team } from '../config/timesheets.ts';
import { addDays, DAY_MS, mondayOf, weekdayOf } from '../dates.ts';
import { isWorkingDay } from './shortfall.ts';

/** Monday to Sunday, both included. */
export interface Week {
  weekStart: string;
  weekEnd: string;
}

/** However late in the day something falls due: a tick is missed now and then, and an outage takes hours. */
const LEAST_SPAN_MS = 6 * 3_600_000;
const REMEMBERED_SPANS = 1_000;

/**
 * The date whose reminders are due: a working day of the team, from the first moment at which its clocks show
 * `remindAt` or later until its day ends, but for six hours at least, if need be into the next day. A time that
 * daylight saving skips is reached when the clocks jump over it, and one that comes twice the first time.
 *
 * Any tick in that span finds the same date, so that a late, a repeated or a missed one makes no difference as long as
 * the caller reminds once per person and date.
 *
 * @param now epoch milliseconds
 */
export function dueReminder(team: Team, now: number): string | undefined {
  const date = dueDate(team.timeZone, team.remindAt, now);
  return date !== undefined && isWorkingDay(team, date) ? date : undefined;
}

/** When the reminders of a date are due no longer, in epoch milliseconds. */
export function reminderEndsAt({ timeZone, remindAt }: Team, date: string): number {
  return spanOf(timeZone, remindAt, Date.parse(date) / DAY_MS).until;
}

/**
 * The week whose summary is due, in the same manner on the summary's weekday: the last one that is over. On a holiday
 * it is due as well, for it only waits in its channel to be read.
 *
 * @param now epoch milliseconds
 */
export function dueSummary({ timeZone, summary }: Team, now: number): Week | undefined {
  if (!summary) return undefined;
  const date = dueDate(timeZone, summary.at, now);
  if (date === undefined || weekdayOf(date) !== summary.on) return undefined;
  const weekStart = addDays(mondayOf(date), -7);
  return { weekStart, weekEnd: addDays(weekStart, 6) };
}

/** When what is due at a time of day on a date is due. */
interface Span {
  date: string;
  /** Epoch milliseconds. */
  from: number;
  /** Epoch milliseconds, no longer in the span. */
  until: number;
}

/** The date on which that time has come, and whose span is not over. There is one at most, for spans end before the next begins. */
function dueDate(timeZone: string, time: string, now: number): string | undefined {
  const day = Math.floor(now / DAY_MS);
  // Zones are from 12 hours behind UTC to 14 ahead.
  const around = [day + 1, day, day - 1].map((day) => spanOf(timeZone, time, day));
  return around.find(({ from, until }) => now >= from && now < until)?.date;
}

const spans = new Map<string, Span>();

/**
 * Remembered, for each tick asks for the same spans as the tick before, and they take longer to work out than all else.
 *
 * @param day the date, in days since 1970
 */
function spanOf(timeZone: string, time: string, day: number): Span {
  const key = `${timeZone} ${time} ${day}`;
  const known = spans.get(key);
  if (known) return known;
  const date = new Date(day * DAY_MS).toISOString().slice(0, 10);
  const from = reachedAt(timeZone, date, time);
  const until = Math.max(reachedAt(timeZone, addDays(date, 1), '00:00'), from + LEAST_SPAN_MS);
  if (spans.size >= REMEMBERED_SPANS) spans.clear();
  spans.set(key, { date, from, until });
  return { date, from, until };
}

/** The first moment of that date at which clocks in the zone show that time, or a later one; in epoch milliseconds. */
function reachedAt(timeZone: string, date: string, time: string): number {
  const local = Temporal.PlainDateTime.from(`${date}T${time}`);
  const moment = local.toZonedDateTime(timeZone, { disambiguation: 'earlier' });
  if (moment.toPlainDateTime().equals(local)) return moment.epochMilliseconds;
  // Skipped: `earlier` then stands before the jump, which is the zone's next change.
  return (moment.getTimeZoneTransition('next') ?? moment).epochMilliseconds;
}
