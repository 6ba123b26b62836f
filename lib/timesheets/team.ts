import type { Team } from './config.ts';

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

/** As the checked configuration has addresses. */
function normalised(email: string): string {
  return email.trim().toLowerCase();
}
