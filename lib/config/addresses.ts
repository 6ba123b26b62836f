import type { NamedSetting } from './names.ts';

/** The settings of a team that name people. */
export interface Addresses {
  people: 'all' | readonly string[];
  quiet: readonly string[];
  partTime: readonly { email: string }[];
  joined: readonly { email: string }[];
}

/** Lists every address of a team, with its path in the settings. */
export function addressesOf({ people, quiet, partTime, joined }: Addresses): NamedSetting[] {
  return [
    ...(people === 'all' ? [] : people.map((email, index): NamedSetting => [['people', index], email])),
    ...quiet.map((email, index): NamedSetting => [['quiet', index], email]),
    ...partTime.map(({ email }, index): NamedSetting => [['partTime', index, 'email'], email]),
    ...joined.map(({ email }, index): NamedSetting => [['joined', index, 'email'], email]),
  ];
}
