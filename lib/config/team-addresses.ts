/** A name, and where in the settings it stands. */
export type Named = readonly [path: (string | number)[], name: string];

/** What of a team's settings holds addresses. */
export interface Addresses {
  people: 'all' | readonly string[];
  quiet: readonly string[];
  partTime: readonly { email: string }[];
  joined: readonly { email: string }[];
}

/** Every address of a team, and where in its settings it stands. Apart from the schema, which the worker need not load. */
export function addressesOf({ people, quiet, partTime, joined }: Addresses): Named[] {
  return [
    ...(people === 'all' ? [] : people.map((email, index): Named => [['people', index], email])),
    ...quiet.map((email, index): Named => [['quiet', index], email]),
    ...partTime.map(({ email }, index): Named => [['partTime', index, 'email'], email]),
    ...joined.map(({ email }, index): Named => [['joined', index, 'email'], email]),
  ];
}
