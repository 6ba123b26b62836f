import type { Named } from './refuse-repeated.ts';

/** The settings of a team that name people. */
export interface Addresses {
  people: 'all' | readonly string[];
  quiet: readonly string[];
  partTime: readonly { email: string }[];
  joined: readonly { email: string }[];
}

/** Every address of a team, and where in its settings it stands. */
export function addressesOf({ people, quiet, partTime, joined }: Addresses): Named[] {
  return [
    ...(people === 'all' ? [] : people.map((email, index): Named => [['people', index], email])),
    ...quiet.map((email, index): Named => [['quiet', index], email]),
    ...partTime.map(({ email }, index): Named => [['partTime', index, 'email'], email]),
    ...joined.map(({ email }, index): Named => [['joined', index, 'email'], email]),
  ];
}
