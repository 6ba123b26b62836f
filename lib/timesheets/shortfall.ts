import type { Team } from '../config/timesheets.ts';
import { datesBetween, mondayOf } from '../dates.ts';
import { expectedMinutes, expectedMinutesBetween } from './expected.ts';
import { isQuiet, type Member } from './team.ts';

/**
 * Nobody is called short of less, for services round: one that keeps a single decimal of an hour takes up to three
 * minutes from an entry.
 */
export const TOLERATED_MINUTES = 5;

/** Minutes by date. A date without any may be left out. */
export type MinutesByDate = Readonly<Record<string, number>>;

/** What somebody was to log and did log over some days, in minutes. */
export interface Standing {
  expected: number;
  logged: number;
  /** 0 where it is not worth a word. */
  missing: number;
}

/** How somebody stands who is short. */
export interface Shortfall {
  day: Standing;
  /** From Monday up to the day. */
  week: Standing;
}

/** How the person stands over all dates from the first to the last, both included. */
export function standingOf(team: Team, member: Member, first: string, last: string, minutes: MinutesByDate): Standing {
  const expected = expectedMinutesBetween(team, member, first, last);
  const logged = datesBetween(first, last).reduce((sum, date) => sum + (minutes[date] ?? 0), 0);
  return { expected, logged, missing: missingMinutes(expected, logged) };
}

/**
 * What the person is to be reminded of on that date, by the team's `remindOf`; undefined where it is nothing. Somebody
 * quiet is not reminded, and nobody is on a day on which they do not work.
 */
export function shortfallOf(team: Team, member: Member, date: string, minutes: MinutesByDate): Shortfall | undefined {
  if (isQuiet(team, member.email) || expectedMinutes(team, member, date) === 0) return undefined;
  const day = standingOf(team, member, date, date, minutes);
  const week = standingOf(team, member, mondayOf(date), date, minutes);
  const isShort = (team.remindOf !== 'week' && day.missing > 0) || (team.remindOf !== 'day' && week.missing > 0);
  return isShort ? { day, week } : undefined;
}

function missingMinutes(expected: number, logged: number): number {
  const missing = expected - logged;
  return missing > TOLERATED_MINUTES ? missing : 0;
}
