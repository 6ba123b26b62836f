import { addressesOf } from '../config/team-addresses.ts';
import type { Team } from '../config/timesheets.ts';

/** A user of the service, as a team's settings are about them. */
export interface Member {
  email: string;
  /** `YYYY-MM-DD`: since when the service has them, where it shows that. */
  createdOn?: string | undefined;
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

export function isQuiet(team: Team, email: string): boolean {
  return team.quiet.includes(normalised(email));
}

/** The person's expected hours by weekday: their own, or the team's. */
export function weeklyHoursOf(team: Team, email: string): Team['hours'] {
  const address = normalised(email);
  return team.partTime.find((person) => person.email === address)?.hours ?? team.hours;
}

/** The first day of which anything is expected of them: by the settings, or else by the service; undefined for always. */
export function firstDayOf(team: Team, { email, createdOn }: Member): string | undefined {
  const address = normalised(email);
  return team.joined.find((person) => person.email === address)?.on ?? createdOn;
}

/** The addresses in a team's settings that none of the users has, by where they stand: `partTime.0.email`. */
export function addressesOfNobody(team: Team, users: readonly Member[]): Record<string, string> {
  const known = new Set(users.map(({ email }) => normalised(email)));
  const unknown = addressesOf(team).filter(([, email]) => !known.has(email));
  return Object.fromEntries(unknown.map(([path, email]) => [path.join('.'), email]));
}

/** As the checked configuration has addresses. */
function normalised(email: string): string {
  return email.trim().toLowerCase();
}
