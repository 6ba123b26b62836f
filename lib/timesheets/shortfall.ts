import { addressesOf } from '../config/addresses.ts';
import type { Team } from '../config/timesheets.ts';
import { datesBetween, mondayOf, weekdayOf } from '../dates.ts';

/**
 * Shortfalls below this are ignored, because services round: one that keeps a single decimal of an hour takes up to
 * three minutes from an entry.
 */
export const TOLERATED_MINUTES = 5;

/** A user of the service, as a team's settings are about them. */
export interface Member {
  email: string;
  /** `YYYY-MM-DD`: since when the service has them, where it shows that. */
  createdOn?: string | undefined;
}

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

/**
 * The team of a user of the service: that which lists them, or else that of `all` others. The configuration has each
 * address, and `all`, once per connection.
 *
 * @param email the user's address in the service, in any letter case
 */
export function teamOf(teams: readonly Team[], connection: string, email: string): Team | undefined {
  const there = teams.filter((team) => team.connection === connection);
  const address = normalised(email);
  return (
    there.find(({ people }) => people !== 'all' && people.includes(address)) ??
    there.find(({ people }) => people === 'all')
  );
}

/** The team of that name, or undefined for one that the configuration has no longer. */
export function findTeam(teams: readonly Team[], name: string): Team | undefined {
  return teams.find((team) => team.name === name);
}

/** The addresses in a team's settings that none of the users has, by where they stand: `partTime.0.email`. */
export function addressesOfNobody(team: Team, users: readonly Member[]): Record<string, string> {
  const known = new Set(users.map(({ email }) => normalised(email)));
  const unknown = addressesOf(team).filter(([, email]) => !known.has(email));
  return Object.fromEntries(unknown.map(([path, email]) => [path.join('.'), email]));
}

/** A weekday with hours, and no holiday. */
export function isWorkingDay(team: Team, date: string): boolean {
  return (team.hours[weekdayOf(date)] ?? 0) > 0 && !team.holidays.includes(date);
}

/**
 * What the person is expected to log on that date, in whole minutes: 0 on a day on which the team or they do not work, and
 * before they joined, by the settings or else by the service.
 */
export function expectedMinutes(team: Team, { email, createdOn }: Member, date: string): number {
  const address = normalised(email);
  const firstDay = team.joined.find((person) => person.email === address)?.on ?? createdOn ?? '';
  if (!isWorkingDay(team, date) || date < firstDay) return 0;
  const hours = team.partTime.find((person) => person.email === address)?.hours ?? team.hours;
  return Math.round((hours[weekdayOf(date)] ?? 0) * 60);
}

/** How the person stands over all dates from the first to the last, both included. */
export function standingOf(team: Team, member: Member, first: string, last: string, minutes: MinutesByDate): Standing {
  const dates = datesBetween(first, last);
  const expected = dates.reduce((sum, date) => sum + expectedMinutes(team, member, date), 0);
  const logged = dates.reduce((sum, date) => sum + (minutes[date] ?? 0), 0);
  const missing = expected - logged;
  return { expected, logged, missing: missing > TOLERATED_MINUTES ? missing : 0 };
}

/**
 * What the person is to be reminded of on that date, by the team's `remindOf`; undefined where it is nothing. Somebody
 * quiet is not reminded, and nobody is on a day on which they do not work.
 */
export function shortfallOf(team: Team, member: Member, date: string, minutes: MinutesByDate): Shortfall | undefined {
  const isQuiet = team.quiet.includes(normalised(member.email));
  if (isQuiet || expectedMinutes(team, member, date) === 0) return undefined;
  const day = standingOf(team, member, date, date, minutes);
  const week = standingOf(team, member, mondayOf(date), date, minutes);
  const isShort = (team.remindOf !== 'week' && day.missing > 0) || (team.remindOf !== 'day' && week.missing > 0);
  return isShort ? { day, week } : undefined;
}

/** As the checked configuration has addresses. */
function normalised(email: string): string {
  return email.trim().toLowerCase();
}
