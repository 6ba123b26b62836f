/**
 * A date here is `YYYY-MM-DD`, a day of the calendar and in no time zone. ECMAScript reads that form as midnight UTC
 * (ECMA-262, Date Time String Format), so that no zone of the machine comes in, and such dates sort as text.
 */
export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

type Weekday = (typeof WEEKDAYS)[number];

/** The length of a UTC day, and so of every day in this file. */
export const DAY_MS = 86_400_000;

export function addDays(date: string, days: number): string {
  return new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10);
}

export function weekdayOf(date: string): Weekday {
  return WEEKDAYS[daysSinceMonday(date)] as Weekday;
}

/** The Monday with which the date's week begins (ISO 8601). */
export function mondayOf(date: string): string {
  return addDays(date, -daysSinceMonday(date));
}

/** From the first to the last, both included. */
export function datesBetween(first: string, last: string): string[] {
  const dates = [];
  for (let date = first; date <= last; date = addDays(date, 1)) dates.push(date);
  return dates;
}

function daysSinceMonday(date: string): number {
  return (new Date(date).getUTCDay() + 6) % 7;
}
