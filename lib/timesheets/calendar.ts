import { Temporal } from 'temporal-polyfill';
import type { Team } from '../config/timesheets.ts';
import { addDays, DAY_MS, mondayOf, weekdayOf } from '../dates.ts';
import { isWorkingDay } from './shortfall.ts';

/** Monday to Sunday, inclusive. */
export interface Week {
  weekStart: string;
  weekEnd: string;
}

/** The minimum due time, even late in the day, because a tick may be missed, and an outage may last hours. */
const LEAST_SPAN_MS = 6 * 3_600_000;
const REMEMBERED_SPANS = 1_000;

/**
 * Returns the date whose reminders are due; it is a working day of the team. Reminders become due when the team's
 * clocks show `remindAt` or later, and stay due until the day ends, but for at least six hours, if necessary into the
 * next day. A time skipped by daylight saving counts as reached when the clocks jump. A time that occurs twice counts
 * the first time.
 *
 * Every tick in that span returns the same date. Late, repeated or missed ticks therefore make no difference, as long
 * as the caller reminds each person once per date.
 *
 * @param now epoch milliseconds
 */
export function dueReminder(team: Team, now: number): string | undefined {
  const date = dueDate(team.timeZone, team.remindAt, now);
  return date !== undefined && isWorkingDay(team, date) ? date : undefined;
}

/** Longer than a weekend together with holidays. */
const LOOKED_BACK_DAYS = 14;

/**
 * Returns when reminders last became due, in epoch milliseconds; undefined if that was long ago.
 *
 * @param now epoch milliseconds
 */
export function lastReminderAt(team: Team, now: number): number | undefined {
  const today = Math.floor(now / DAY_MS) + 1;
  for (let day = today; day > today - LOOKED_BACK_DAYS; day--) {
    const { date, from } = spanOf(team.timeZone, team.remindAt, day);
    if (from <= now && isWorkingDay(team, date)) return from;
  }
  return undefined;
}

/** Returns when a date's reminders stop being due, in epoch milliseconds. */
export function reminderEndsAt({ timeZone, remindAt }: Team, date: string): number {
  return spanOf(timeZone, remindAt, Date.parse(date) / DAY_MS).until;
}

/**
 * Returns the week whose summary is due: the last complete week. The rules of reminders apply, on the summary's
 * weekday. But a summary is also due on a holiday, because it waits in its channel.
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

/** The span in which a time of day on a date is due. */
interface Span {
  date: string;
  /** Epoch milliseconds. */
  from: number;
  /** Epoch milliseconds, exclusive. */
  until: number;
}

/** Returns the date whose span includes now. There is at most one, because a span ends before the next one begins. */
function dueDate(timeZone: string, time: string, now: number): string | undefined {
  const day = Math.floor(now / DAY_MS);
  // Time zones range from UTC-12 to UTC+14.
  const around = [day + 1, day, day - 1].map((day) => spanOf(timeZone, time, day));
  return around.find(({ from, until }) => now >= from && now < until)?.date;
}

const spans = new Map<string, Span>();

/**
 * Returns the span of a date. Cached, because each tick needs the same spans, and computing them takes most of its
 * time.
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

/** Returns the first moment of a date at which clocks in the zone show that time or later; epoch milliseconds. */
function reachedAt(timeZone: string, date: string, time: string): number {
  const local = Temporal.PlainDateTime.from(`${date}T${time}`);
  const moment = local.toZonedDateTime(timeZone, { disambiguation: 'earlier' });
  if (moment.toPlainDateTime().equals(local)) return moment.epochMilliseconds;
  // The time is skipped. `earlier` is before the jump, which is the zone's next transition.
  return (moment.getTimeZoneTransition('next') ?? moment).epochMilliseconds;
}
