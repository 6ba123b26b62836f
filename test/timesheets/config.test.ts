import { describe, expect, it } from 'vitest';
import { timesheetsConfig } from '../../lib/config/timesheets.ts';
import { teamInput } from './team.ts';

const faultsOf = (...changes: object[]) => {
  const parsed = timesheetsConfig.safeParse({ teams: changes.map((change) => ({ ...teamInput, ...change })) });
  return (parsed.error?.issues ?? []).map((issue) => `${issue.path.join('.')}: ${issue.message}`);
};

const ada = 'ada@example.com';
const bob = 'bob@example.com';

describe('the settings', () => {
  it.each([
    [
      'a zone that does not exist',
      { timeZone: 'Europe/Bärlin' },
      /^teams\.0\.timeZone: there is no time zone 'Europe\/Bärlin'; did you mean 'Europe\/Berlin'\?$/,
    ],
    ['an offset for a zone', { timeZone: '+01:00' }, /^teams\.0\.timeZone: expected a name/],
    ['an hour of the afternoon', { remindAt: '4:30pm' }, /^teams\.0\.remindAt: expected a time of day such as 16:30/],
    ['a time past midnight', { remindAt: '24:00' }, /^teams\.0\.remindAt: expected a time/],
    ['a weekday in full', { hours: { mon: 8, tuesday: 8 } }, /^teams\.0\.hours: Unrecognized key: "tuesday"/],
    ['a day of 25 hours', { hours: { mon: 25 } }, /^teams\.0\.hours\.mon: .*<=24/],
    ['no hours at all', { hours: { mon: 0 } }, /^teams\.0\.hours: expected hours on at least one weekday/],
    ['a word for people', { people: 'everybody' }, /^teams\.0\.people: expected 'all' or a list/],
    ['nobody', { people: [] }, /^teams\.0\.people: expected at least one address/],
    ['a name for an address', { people: [ada, 'Bob'] }, /^teams\.0\.people\.1: expected an e-mail address/],
    [
      'somebody twice',
      { people: [ada, 'Ada@example.com'] },
      /^teams\.0\.people\.1: '.*' is already at teams\.0\.people\.0/,
    ],
    ['a stranger who is quiet', { people: [ada], quiet: [bob] }, /^teams\.0\.quiet\.0: .* not among the team's people/],
    [
      'a stranger who is part-time',
      { people: [ada], partTime: [{ email: bob, hours: { mon: 4 } }] },
      /^teams\.0\.partTime\.0\.email: .* not among the team's people/,
    ],
    [
      'part-time hours twice',
      { partTime: [ada, ada].map((email) => ({ email, hours: { mon: 4 } })) },
      /^teams\.0\.partTime\.1\.email: '.*' is already at partTime\.0\.email/,
    ],
    [
      'part-time hours on a day off',
      { partTime: [{ email: ada, hours: { mon: 4, sat: 4 } }] },
      /^teams\.0\.partTime\.0\.hours\.sat: sat is not a working day of the team/,
    ],
    ['a holiday that does not exist', { holidays: ['2026-02-30'] }, /^teams\.0\.holidays\.0: expected a date such as/],
    ['a country alone', { holidays: 'DE' }, /^teams\.0\.holidays: expected a list of dates, or a place such as/],
    [
      'an unknown country',
      { holidays: { country: 'Germany' } },
      /^teams\.0\.holidays\.country: no country 'Germany'; there are AD, .*DE, /,
    ],
    [
      'an unknown country with a name that every object has',
      { holidays: { country: 'constructor' } },
      /^teams\.0\.holidays\.country: no country 'constructor'; there are AD, .*DE, /,
    ],
    [
      'an unknown region',
      { holidays: { country: 'DE', region: 'Bayern' } },
      /^teams\.0\.holidays\.region: no region 'Bayern' in DE; there are .*BY \(Bayern\), BY-A \(Stadt Augsburg\), /,
    ],
    [
      'a region of a country without',
      { holidays: { country: 'LU', region: 'L' } },
      /^teams\.0\.holidays\.region: no region 'L' in LU; it has none; leave region out/,
    ],
    [
      'an extra holiday that does not exist',
      { holidays: { country: 'DE', extra: ['24.12.2026'] } },
      /^teams\.0\.holidays\.extra\.0: expected a date such as/,
    ],
    ['a reminder of the month', { remindOf: 'month' }, /^teams\.0\.remindOf: expected day or week/],
    ['a channel by name', { summary: { channel: '#leads' } }, /^teams\.0\.summary\.channel: expected the id/],
    [
      'a summary on no weekday',
      { summary: { channel: 'C1', on: 'monday' } },
      /^teams\.0\.summary\.on: expected one of/,
    ],
    ['an unknown setting', { remindat: '16:30' }, /^teams\.0: Unrecognized key: "remindat"/],
  ])('invalid settings are refused with their path: %s', (_, change, fault) => {
    expect(faultsOf(change)).toEqual([expect.stringMatching(fault)]);
  });

  it.each([
    ['of one name', [{ people: [ada] }, { people: [bob] }], /^teams\.1\.name: 'platform' is already at teams\.0\.name/],
    [
      'with somebody in both',
      [{ people: [bob] }, { name: 'web', people: [ada, bob] }],
      /^teams\.1\.people\.1: 'bob@example.com' is already at teams\.0\.people\.0/,
    ],
    ['that are both of all', [{}, { name: 'web' }], /^teams\.1\.people: 'all' is already at teams\.0\.people/],
  ])('are refused where there are two teams %s', (_, teams, fault) => {
    expect(faultsOf(...teams)).toEqual([expect.stringMatching(fault)]);
  });

  it('people may be in teams of several connections, and a team of all others may exist beside one of some', () => {
    expect(faultsOf({}, { name: 'web', people: [ada] }, { name: 'abroad', connection: 'other' })).toEqual([]);
  });

  it('the settings need a team', () => {
    expect(timesheetsConfig.safeParse({ teams: [] }).error?.issues[0]?.message).toBe('expected at least one team');
  });

  it('the settings are JSON that parses to the same again, with lowercase addresses and defaults', () => {
    const settings = timesheetsConfig.parse({
      teams: [
        {
          ...teamInput,
          people: ['Ada@Example.com', bob],
          partTime: [{ email: 'BOB@example.com', hours: { fri: 4 } }],
          summary: { channel: 'C0123' },
        },
      ],
    });
    expect(settings).toEqual({
      dryRun: false,
      teams: [
        {
          absence: {},
          ...teamInput,
          people: [ada, bob],
          partTime: [{ email: bob, hours: { fri: 4 } }],
          joined: [],
          quiet: [],
          holidays: [],
          remindOf: 'week',
          summary: { channel: 'C0123', on: 'mon', at: '09:00' },
        },
      ],
    });
    expect(timesheetsConfig.parse(JSON.parse(JSON.stringify(settings)))).toEqual(settings);
  });
});
