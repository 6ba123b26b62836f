import type { Team } from '../config/timesheets.ts';
import { datesBetween, weekdayOf } from '../dates.ts';
import { firstDayOf, type Member, weeklyHoursOf } from './team.ts';

/** A weekday with hours, and no holiday. */
export function isWorkingDay(team: Team, date: string): boolean {
  return (team.hours[weekdayOf(date)] ?? 0) > 0 && !team.holidays.includes(date);
}

/**
 * What the person is expected to log on that date, in whole minutes: 0 on a day on which the team or they do not work, and
 * before they joined.
 */
export function expectedMinutes(team: Team, member: Member, date: string): number {
  if (!isWorkingDay(team, date) || date < (firstDayOf(team, member) ?? '')) return 0;
  return Math.round((weeklyHoursOf(team, member.email)[weekdayOf(date)] ?? 0) * 60);
}

/** The same for all dates from the first to the last, both included. */
export function expectedMinutesBetween(team: Team, member: Member, first: string, last: string): number {
  return datesBetween(first, last).reduce((sum, date) => sum + expectedMinutes(team, member, date), 0);
}
