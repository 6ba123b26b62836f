import type { Team } from './config.ts';
import { datesBetween, weekdayOf } from './dates.ts';
import { weeklyHoursOf } from './team.ts';

/** A weekday with hours, and no holiday. */
export function isWorkingDay(team: Team, date: string): boolean {
  return (team.hours[weekdayOf(date)] ?? 0) > 0 && !team.holidays.includes(date);
}

/** What the person is expected to log on that date, in whole minutes: 0 on a day on which the team or they do not work. */
export function expectedMinutes(team: Team, email: string, date: string): number {
  if (!isWorkingDay(team, date)) return 0;
  return Math.round((weeklyHoursOf(team, email)[weekdayOf(date)] ?? 0) * 60);
}

/** The same for all dates from the first to the last, both included. */
export function expectedMinutesBetween(team: Team, email: string, first: string, last: string): number {
  return datesBetween(first, last).reduce((sum, date) => sum + expectedMinutes(team, email, date), 0);
}
