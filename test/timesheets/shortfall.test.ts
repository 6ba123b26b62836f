import { describe, expect, it } from 'vitest';
import type { Team } from '../../lib/config/timesheets.ts';
import { datesBetween } from '../../lib/dates.ts';
import {
  balancesOn,
  expectedMinutes,
  expectedOn,
  isWorkingDay,
  type Member,
  type MinutesByDate,
  shortfallOf,
  TOLERATED_MINUTES,
  teamOf,
} from '../../lib/timesheets/shortfall.ts';
import { team } from './team.ts';

const ADA = 'ada@example.com';
const ada = { email: ADA };
const [MON, TUE, WED, SUN] = ['2026-11-16', '2026-11-17', '2026-11-18', '2026-11-22'] as const;

describe('a reminder on Tuesday', () => {
  it.each<[string, MinutesByDate, { day: boolean; week: boolean }]>([
    ['nothing', {}, { day: true, week: true }],
    ['all', { [MON]: 480, [TUE]: 480 }, { day: false, week: false }],
    ['all of the day and nothing before', { [TUE]: 480 }, { day: false, week: true }],
    ['all before and nothing of the day', { [MON]: 480 }, { day: true, week: true }],
    ['too little of the day, made up for on Monday', { [MON]: 600, [TUE]: 360 }, { day: true, week: false }],
    ['too much of the day, which makes up for Monday', { [MON]: 360, [TUE]: 600 }, { day: false, week: false }],
    ['what is to come', { [WED]: 960 }, { day: true, week: true }],
    ['what was last week', { '2026-11-15': 960 }, { day: true, week: true }],
    ['all but what is tolerated', { [MON]: 480, [TUE]: 480 - TOLERATED_MINUTES }, { day: false, week: false }],
    ['a minute less than is tolerated', { [MON]: 480, [TUE]: 479 - TOLERATED_MINUTES }, { day: true, week: true }],
  ])('with %s logged', (_, minutes, short) => {
    const isShort = (remindOf: 'day' | 'week') => shortfallOf(team({ remindOf }), ada, TUE, minutes) !== undefined;
    expect({ day: isShort('day'), week: isShort('week') }).toEqual(short);
  });

  it.each<[string, MinutesByDate, { [MON]: number; [TUE]: number }]>([
    ['each is short', { [MON]: 450, [TUE]: 120 }, { [MON]: 30, [TUE]: 360 }],
    ['more on Tuesday makes up for Monday', { [MON]: 300, [TUE]: 540 }, { [MON]: 120, [TUE]: 0 }],
    ['more on Monday makes up for Tuesday', { [MON]: 540, [TUE]: 360 }, { [MON]: 0, [TUE]: 60 }],
  ])('says what is missing on each day and in the week: %s', (_, minutes, missing) => {
    const { days, sum } = shortfallOf(team(), ada, TUE, minutes) ?? {};
    expect({ [MON]: days?.[MON]?.missing, [TUE]: days?.[TUE]?.missing }).toEqual(missing);
    expect(sum?.missing).toBe(missing[MON] + missing[TUE]);
  });

  it('counts no missing time on a day away', () => {
    expect(shortfallOf(team(), ada, TUE, { [TUE]: 480 }, [MON])).toBeUndefined();
  });

  it.each([
    ['a quiet person', { quiet: ['Ada@example.com'] }],
    ['somebody who does not work that day, however short the week', { partTime: [{ email: ADA, hours: { mon: 8 } }] }],
    ['anybody on a holiday', { holidays: [TUE] }],
  ])('does not go to %s', (_, change) => {
    expect(shortfallOf(team(change), ada, TUE, {})).toBeUndefined();
  });
});

const standingOf = (...[team, member, from, to, minutes]: [Team, Member, string, string, MinutesByDate]) => {
  const dates = datesBetween(from, to);
  return balancesOn(dates, expectedOn(team, member, dates), minutes).sum;
};

describe("a person's week", () => {
  it('counts if the person has logged nothing, too', () => {
    const week = standingOf(team({ quiet: [ADA] }), ada, MON, SUN, { [MON]: 480 });
    expect(week).toEqual({ expected: 2310, logged: 480, missing: 1830 });
  });

  it('counts time logged on a weekend, and never has negative missing time', () => {
    const week = standingOf(team(), ada, MON, SUN, { [MON]: 1200, [TUE]: 1200, [SUN]: 60 });
    expect(week).toEqual({ expected: 2310, logged: 2460, missing: 0 });
  });
});

const berlin = team({
  hours: { mon: 8, tue: 8, wed: 8, thu: 8, fri: 6.5, sat: 0 },
  holidays: ['2026-11-18'],
  partTime: [{ email: 'Bob@Example.com', hours: { mon: 4, wed: 4, thu: 7.33 } }],
});

describe('the expected time', () => {
  it.each([
    ['on a working day', 'ada@example.com', '2026-11-16', 480],
    ['on a shorter one', 'ada@example.com', '2026-11-20', 390],
    ['on a holiday', 'ada@example.com', '2026-11-18', 0],
    ['on a weekday of no hours', 'ada@example.com', '2026-11-21', 0],
    ['on a weekday that is not named', 'ada@example.com', '2026-11-22', 0],
    ['of somebody part-time', 'bob@example.com', '2026-11-16', 240],
    ['of the same with another spelling of the address', ' BOB@example.com', '2026-11-16', 240],
    ['of somebody part-time in a fraction of an hour, by whole minutes', 'bob@example.com', '2026-11-19', 440],
    ['of somebody part-time on their day off', 'bob@example.com', '2026-11-17', 0],
    ['of somebody part-time on a holiday', 'bob@example.com', '2026-11-18', 0],
  ])('%s', (_, email, date, minutes) => {
    expect(expectedMinutes(berlin, { email }, date)).toBe(minutes);
  });

  it.each([
    ['a week with a holiday', 'ada@example.com', '2026-11-16', '2026-11-22', 3 * 480 + 390],
    ['that of somebody part-time', 'bob@example.com', '2026-11-16', '2026-11-22', 240 + 440],
    ['a single day', 'ada@example.com', '2026-11-20', '2026-11-20', 390],
    ['no day', 'ada@example.com', '2026-11-20', '2026-11-19', 0],
  ])('in %s is the sum of its days', (_, email, first, last, minutes) => {
    expect(standingOf(berlin, { email }, first, last, {}).expected).toBe(minutes);
  });

  it("counts one person's day off as the team's working day", () => {
    expect(isWorkingDay(berlin, '2026-11-17')).toBe(true);
    expect(isWorkingDay(berlin, '2026-11-18')).toBe(false);
    expect(isWorkingDay(berlin, '2026-11-21')).toBe(false);
  });
});

const teams = [
  team({ name: 'everybody' }),
  team({ name: 'web', people: ['Ada@example.com'] }),
  team({ name: 'elsewhere', connection: 'other', people: ['bob@example.com'] }),
];

it.each([
  ['the team that lists them, before that of all', 'main', 'ada@example.com', 'web'],
  ['it in any letter case', 'main', 'ADA@Example.com ', 'web'],
  ['that of all others', 'main', 'bob@example.com', 'everybody'],
  ['the one of their connection', 'other', 'bob@example.com', 'elsewhere'],
  ['none where nobody lists them', 'other', 'ada@example.com', undefined],
])('a person is in %s', (_, connection, email, name) => {
  expect(teamOf(teams, connection, email)?.name).toBe(name);
});
