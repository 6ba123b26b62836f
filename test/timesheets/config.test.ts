import { describe, expect, it } from 'vitest';
import { timesheetsConfig } from '../../lib/config/timesheets.ts';
import { teamInput } from './team.ts';

const faultsOf = (...changes: object[]) => {
  const parsed = timesheetsConfig.safeParse({ teams: changes.map((change) => ({ ...teamInput, ...change })) });
  return (parsed.error?.issues ?? []).map((issue) => `${issue.path.join('.')}: ${issue.message}`);
};

const ada = 'ada@example.com';
const bob = 'bob@example.com';

const FOUR_HOURS = { mon: 4 };

describe('the settings', () => {
  it.each<[object, string, RegExp]>([
    [{ timeZone: 'Europe/Bärlin' }, 'timeZone', /no time zone 'Europe\/Bärlin'; did you mean 'Europe\/Berlin'\?$/],
    [{ timeZone: '+01:00' }, 'timeZone', /expected a name/],
    [{ remindAt: '4:30pm' }, 'remindAt', /expected a time of day such as 16:30/],
    [{ remindAt: '24:00' }, 'remindAt', /expected a time/],
    [{ hours: { mon: 8, tuesday: 8 } }, 'hours', /Unrecognized key: "tuesday"/],
    [{ hours: { mon: 25 } }, 'hours.mon', /<=24/],
    [{ hours: { mon: 0 } }, 'hours', /expected hours on at least one weekday/],
    [{ people: 'everybody' }, 'people', /expected 'all' or a list/],
    [{ people: [] }, 'people', /expected at least one address/],
    [{ people: [ada, 'Bob'] }, 'people.1', /expected an e-mail address/],
    [{ people: [ada, 'Ada@example.com'] }, 'people.1', /'.*' is already at teams\.0\.people\.0/],
    [{ people: [ada], quiet: [bob] }, 'quiet.0', /not among the team's people/],
    [{ people: [ada], partTime: [{ email: bob, hours: FOUR_HOURS }] }, 'partTime.0.email', /not among the team's/],
    [{ partTime: Array(2).fill({ email: ada, hours: FOUR_HOURS }) }, 'partTime.1.email', /is already at partTime\.0/],
    [{ partTime: [{ email: ada, hours: { sat: 4 } }] }, 'partTime.0.hours.sat', /sat is not a working day of the team/],
    [{ holidays: ['2026-02-30'] }, 'holidays.0', /expected a date such as/],
    [{ holidays: 'DE' }, 'holidays', /expected a list of dates, or a place such as/],
    [{ holidays: { country: 'Germany' } }, 'holidays.country', /no country 'Germany'; there are AD, .*DE, /],
    // Every object has a property of this name.
    [{ holidays: { country: 'constructor' } }, 'holidays.country', /no country 'constructor'; there are AD, .*DE, /],
    [{ holidays: { country: 'DE', region: 'Bayern' } }, 'holidays.region', /no region 'B.*BY \(Bayern\), BY-A \(/],
    [{ holidays: { country: 'LU', region: 'L' } }, 'holidays.region', /no region 'L' in LU; .* leave region out/],
    [{ holidays: { country: 'DE', extra: ['24.12.2026'] } }, 'holidays.extra.0', /expected a date such as/],
    [{ remindOf: 'month' }, 'remindOf', /expected day or week/],
    [{ summary: { channel: '#leads' } }, 'summary.channel', /expected the id/],
    [{ summary: { channel: 'C1', on: 'monday' } }, 'summary.on', /expected one of/],
    [{ remindat: '16:30' }, '', /Unrecognized key: "remindat"/],
  ])('invalid settings are refused with their path: %j', (change, path, fault) => {
    const [found = '', ...others] = faultsOf(change);
    expect([found.split(': ')[0], others]).toEqual([path ? `teams.0.${path}` : 'teams.0', []]);
    expect(found).toMatch(fault);
  });

  it.each([
    ['of one name', [{ people: [ada] }, { people: [bob] }], /^teams\.1\.name: 'platform' is already at teams\.0\.name/],
    [
      'with somebody in both',
      [{ people: [bob] }, { name: 'web', people: [ada, bob] }],
      /^teams\.1\.people\.1: 'bob@example.com' is already at teams\.0\.people\.0/,
    ],
    ['that are both of all', [{}, { name: 'web' }], /^teams\.1\.people: 'all' is already at teams\.0\.people/],
  ])('are refused if there are two teams %s', (_, teams, fault) => {
    expect(faultsOf(...teams)).toEqual([expect.stringMatching(fault)]);
  });

  it('people may be in teams of several connections, and a team of everyone else may exist beside a team of some', () => {
    expect(faultsOf({}, { name: 'web', people: [ada] }, { name: 'abroad', connection: 'other' })).toEqual([]);
  });

  it('the settings need a team', () => {
    expect(timesheetsConfig.safeParse({ teams: [] }).error?.issues[0]?.message).toBe('expected at least one team');
  });

  it('the settings are JSON that parses to the same again, with lower-case addresses and defaults', () => {
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
