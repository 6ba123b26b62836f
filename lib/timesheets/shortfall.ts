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

/** The balance of each day, and of all of them. */
export interface Balances {
  days: Readonly<Record<string, TimeBalance>>;
  sum: TimeBalance;
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

/** What the person is expected to log on each of the dates: nothing where they are away. */
export function expectedOn(
  team: Team,
  member: Member,
  dates: readonly string[],
  away: readonly string[] = [],
): MinutesByDate {
  return Object.fromEntries(dates.map((date) => [date, away.includes(date) ? 0 : expectedMinutes(team, member, date)]));
}

/**
 * More on one of several days makes up for less on another, the earliest first: 10 hours on Monday and 6 on Tuesday are
 * complete.
 */
export function balancesOn(dates: readonly string[], expected: MinutesByDate, logged: MinutesByDate): Balances {
  const sumOf = (of: MinutesByDate) => dates.reduce((sum, date) => sum + (of[date] ?? 0), 0);
  const all = { expected: sumOf(expected), logged: sumOf(logged) };
  const short = all.expected - all.logged;
  const sum = { ...all, missing: short > TOLERATED_MINUTES ? short : 0 };
  const days: Record<string, TimeBalance> = {};
  let left = sum.missing;
  for (const date of dates.toReversed()) {
    const day = { expected: expected[date] ?? 0, logged: logged[date] ?? 0 };
    const missing = Math.min(Math.max(day.expected - day.logged, 0), left);
    days[date] = { ...day, missing };
    left -= missing;
  }
  return { days, sum };
}

/** The first of the days that count together with a date: the Monday, or itself if each day counts alone. */
export const countedFrom = ({ remindOf }: Team, date: string) => (remindOf === 'day' ? date : mondayOf(date));

/**
 * What to remind the person of on that date; undefined if nothing is missing. Quiet members are never reminded, and no
 * one is reminded on a day off.
 */
export function shortfallOf(
  team: Team,
  member: Member,
  date: string,
  minutes: MinutesByDate,
  away: readonly string[] = [],
): Balances | undefined {
  const isQuiet = team.quiet.includes(comparableAddress(member.email));
  if (isQuiet || expectedMinutes(team, member, date) === 0) return undefined;
  const dates = datesBetween(countedFrom(team, date), date);
  const balances = balancesOn(dates, expectedOn(team, member, dates, away), minutes);
  return balances.sum.missing > 0 ? balances : undefined;
}

/** Why a person without a shortfall to remind them of gets no reminder, for the operator. */
export function whyNotReminded(team: Team, member: Member, date: string): string {
  if (team.quiet.includes(comparableAddress(member.email))) return 'is in quiet';
  return expectedMinutes(team, member, date) === 0 ? 'nothing is expected of them on that day' : 'complete';
}
