import { addressesOf } from '../config/addresses.ts';
import type { Team } from '../config/timesheets.ts';
import { datesBetween, mondayOf, weekdayOf } from '../dates.ts';
import { comparableAddress } from '../text.ts';

/**
 * Smaller shortfalls are ignored, because services round: with one decimal of an hour, an entry can lose three minutes.
 */
export const TOLERATED_MINUTES = 5;

/** A user of the service, with the fields that a team's settings depend on. */
export interface Member {
  email: string;
  /** `YYYY-MM-DD`: when the user was created in the service, if known. */
  createdOn?: string | undefined;
}

/** Minutes by date. Dates without time may be missing. */
export type MinutesByDate = Readonly<Record<string, number>>;

/** A person's expected and logged time over some days, in minutes. */
export interface TimeBalance {
  expected: number;
  logged: number;
  /** 0 if the difference is too small to mention. */
  missing: number;
}

/** The balances of the single days, and of all together. */
export interface Balances {
  days: Readonly<Record<string, TimeBalance>>;
  sum: TimeBalance;
}

/**
 * Returns the team of a service user: the team that lists them, otherwise the team with `all`. In the configuration,
 * each address and `all` occur at most once per connection.
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

/** Returns the team with that name; undefined if the configuration no longer has it. */
export function findTeam(teams: readonly Team[], name: string): Team | undefined {
  return teams.find((team) => team.name === name);
}

/** Returns the addresses in a team's settings that belong to no user, by path, such as `partTime.0.email`. */
export function addressesOfNobody(team: Team, users: readonly Member[]): Record<string, string> {
  const known = new Set(users.map(({ email }) => comparableAddress(email)));
  const unknown = addressesOf(team).filter(([, email]) => !known.has(email));
  return Object.fromEntries(unknown.map(([path, email]) => [path.join('.'), email]));
}

/** Returns true for a working day: a weekday with hours that is not a holiday. */
export function isWorkingDay(team: Team, date: string): boolean {
  return (team.hours[weekdayOf(date)] ?? 0) > 0 && !team.holidays.includes(date);
}

/**
 * Returns a person's expected time on a date, in whole minutes. It is 0 on days off of the team or the person, and
 * before they joined, according to the settings or else the service.
 */
export function expectedMinutes(team: Team, { email, createdOn }: Member, date: string): number {
  const address = comparableAddress(email);
  const firstDay = team.joined.find((person) => person.email === address)?.on ?? createdOn ?? '';
  if (!isWorkingDay(team, date) || date < firstDay) return 0;
  const hours = team.partTime.find((person) => person.email === address)?.hours ?? team.hours;
  return Math.round((hours[weekdayOf(date)] ?? 0) * 60);
}

/** Returns a person's expected time on each of the dates: 0 where they are away. */
export function expectedOn(
  team: Team,
  member: Member,
  dates: readonly string[],
  away: readonly string[] = [],
): MinutesByDate {
  return Object.fromEntries(dates.map((date) => [date, away.includes(date) ? 0 : expectedMinutes(team, member, date)]));
}

/**
 * Returns balances in which extra time on one day makes up for missing time on others, the earliest first: 10 hours on
 * Monday and 6 on Tuesday are complete.
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

/**
 * Returns the first of the days that count together with a date: the Monday, or the date itself if each day counts
 * alone.
 */
export const countedFrom = ({ remindOf }: Team, date: string) => (remindOf === 'day' ? date : mondayOf(date));

/**
 * Returns the balances to remind a person of on a date; undefined if nothing is missing. Quiet members get no
 * reminders, and nobody gets one on a day off.
 */
export function shortfallOf(
  team: Team,
  member: Member,
  date: string,
  minutes: MinutesByDate,
  away: readonly string[] = [],
): Balances | undefined {
  if (whyNoReminder(team, member, date) !== undefined) return undefined;
  const dates = datesBetween(countedFrom(team, date), date);
  const balances = balancesOn(dates, expectedOn(team, member, dates, away), minutes);
  return balances.sum.missing > 0 ? balances : undefined;
}

/** Returns for the operator why a person gets no reminder, even if time is missing. */
export function whyNoReminder(team: Team, member: Member, date: string): string | undefined {
  if (team.quiet.includes(comparableAddress(member.email))) return 'is in quiet';
  return expectedMinutes(team, member, date) === 0 ? 'nothing is expected of them on that day' : undefined;
}
