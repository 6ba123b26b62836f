import { addressesOf } from '../config/addresses.ts';
import type { Team } from '../config/timesheets.ts';
import { datesBetween, mondayOf, weekdayOf } from '../dates.ts';
import { comparableAddress } from '../text.ts';

/**
 * Shortfalls below this are ignored, because services round: one that keeps a single decimal of an hour takes up to
 * three minutes from an entry.
 */
export const TOLERATED_MINUTES = 5;

/** A user of the service, with the fields that a team's settings depend on. */
export interface Member {
  email: string;
  /** `YYYY-MM-DD`: when the user was created in the service, if it shows that. */
  createdOn?: string | undefined;
}

/** Minutes by date. Dates without any may be missing. */
export type MinutesByDate = Readonly<Record<string, number>>;

/** A person's expected and logged time over some days, in minutes. */
export interface TimeBalance {
  expected: number;
  logged: number;
  /** 0 if the difference is too small to mention. */
  missing: number;
}

/** The shortfall of a person. */
export interface Shortfall {
  day: TimeBalance;
  /** From Monday to the day, inclusive. */
  week: TimeBalance;
}

/**
 * The team of a user of the service: the team that lists them, otherwise the team with `all`. Each address and `all`
 * occur at most once per connection in the configuration.
 *
 * @param email the user's address in the service, in any letter case
 */
export function teamOf(teams: readonly Team[], connection: string, email: string): Team | undefined {
  const there = teams.filter((team) => team.connection === connection);
  const address = comparableAddress(email);
  return (
    there.find(({ people }) => people !== 'all' && people.includes(address)) ??
    there.find(({ people }) => people === 'all')
  );
}

/** The team with that name, or undefined if the configuration no longer has it. */
export function findTeam(teams: readonly Team[], name: string): Team | undefined {
  return teams.find((team) => team.name === name);
}

/** The addresses in a team's settings that no user has, by their path: `partTime.0.email`. */
export function addressesOfNobody(team: Team, users: readonly Member[]): Record<string, string> {
  const known = new Set(users.map(({ email }) => comparableAddress(email)));
  const unknown = addressesOf(team).filter(([, email]) => !known.has(email));
  return Object.fromEntries(unknown.map(([path, email]) => [path.join('.'), email]));
}

/** A working day: a weekday with hours that is not a holiday. */
export function isWorkingDay(team: Team, date: string): boolean {
  return (team.hours[weekdayOf(date)] ?? 0) > 0 && !team.holidays.includes(date);
}

/**
 * What the person is expected to log on that date, in whole minutes: 0 on a day on which the team or they do not work, and
 * before they joined, by the settings or else by the service.
 */
export function expectedMinutes(team: Team, { email, createdOn }: Member, date: string): number {
  const address = comparableAddress(email);
  const firstDay = team.joined.find((person) => person.email === address)?.on ?? createdOn ?? '';
  if (!isWorkingDay(team, date) || date < firstDay) return 0;
  const hours = team.partTime.find((person) => person.email === address)?.hours ?? team.hours;
  return Math.round((hours[weekdayOf(date)] ?? 0) * 60);
}

/** What the person is expected to log on each of the dates. */
export const expectedOn = (team: Team, member: Member, dates: readonly string[]): MinutesByDate =>
  Object.fromEntries(dates.map((date) => [date, expectedMinutes(team, member, date)]));

/** The person's balance over all dates from the first to the last, inclusive. */
export function standingOf(
  team: Team,
  member: Member,
  first: string,
  last: string,
  minutes: MinutesByDate,
): TimeBalance {
  const dates = datesBetween(first, last);
  return balanceOn(dates, expectedOn(team, member, dates), minutes);
}

export function balanceOn(dates: readonly string[], expected: MinutesByDate, minutes: MinutesByDate): TimeBalance {
  const sumOf = (of: MinutesByDate) => dates.reduce((sum, date) => sum + (of[date] ?? 0), 0);
  return balanceOf(sumOf(expected), sumOf(minutes));
}

function balanceOf(expected: number, logged: number): TimeBalance {
  const missing = expected - logged;
  return { expected, logged, missing: missing > TOLERATED_MINUTES ? missing : 0 };
}

/** @param more the minutes that were logged since, of the day and of the week */
export function afterLogging({ day, week }: Shortfall, more: Record<keyof Shortfall, number>): Shortfall {
  return {
    day: balanceOf(day.expected, day.logged + more.day),
    week: balanceOf(week.expected, week.logged + more.week),
  };
}

/**
 * The shortfall to remind the person of on that date, according to the team's `remindOf`; undefined if there is none.
 * Quiet members are never reminded, and no one is reminded on a day off.
 */
export function shortfallOf(team: Team, member: Member, date: string, minutes: MinutesByDate): Shortfall | undefined {
  const isQuiet = team.quiet.includes(comparableAddress(member.email));
  if (isQuiet || expectedMinutes(team, member, date) === 0) return undefined;
  const day = standingOf(team, member, date, date, minutes);
  const week = standingOf(team, member, mondayOf(date), date, minutes);
  const isShort = (team.remindOf !== 'week' && day.missing > 0) || (team.remindOf !== 'day' && week.missing > 0);
  return isShort ? { day, week } : undefined;
}

/** Why a person without a shortfall to remind them of gets no reminder, for the operator. */
export function whyNotReminded(team: Team, member: Member, date: string): string {
  if (team.quiet.includes(comparableAddress(member.email))) return 'is in quiet';
  return expectedMinutes(team, member, date) === 0 ? 'nothing is expected of them on that day' : 'complete';
}
