import { describe, expect, it } from 'vitest';
import { type MinutesByDate, shortfallOf, standingOf, TOLERATED_MINUTES } from '../../lib/timesheets/shortfall.ts';
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
    const isShort = (remindOf: 'day' | 'week' | 'either') =>
      shortfallOf(team({ remindOf }), ada, TUE, minutes) !== undefined;
    expect({ day: isShort('day'), week: isShort('week') }).toEqual(short);
    expect(isShort('either')).toBe(short.day || short.week);
  });

  it('a reminder says what is missing of the day and of the week', () => {
    expect(shortfallOf(team(), ada, TUE, { [MON]: 450, [TUE]: 120 })).toEqual({
      day: { expected: 480, logged: 120, missing: 360 },
      week: { expected: 960, logged: 570, missing: 390 },
    });
  });

  it.each([
    ['a quiet person', { quiet: ['Ada@example.com'] }],
    ['somebody who does not work that day, however short the week', { partTime: [{ email: ADA, hours: { mon: 8 } }] }],
    ['anybody on a holiday', { holidays: [TUE] }],
  ])('a reminder does not go to %s', (_, change) => {
    expect(shortfallOf(team(change), ada, TUE, {})).toBeUndefined();
  });
});

describe('a week', () => {
  it("a quiet person's week is counted too", () => {
    const week = standingOf(team({ quiet: [ADA] }), ada, MON, SUN, { [MON]: 480 });
    expect(week).toEqual({ expected: 2310, logged: 480, missing: 1830 });
  });

  it('time logged on a weekend counts, and the missing time is never negative', () => {
    const week = standingOf(team(), ada, MON, SUN, { [MON]: 1200, [TUE]: 1200, [SUN]: 60 });
    expect(week).toEqual({ expected: 2310, logged: 2460, missing: 0 });
  });
});
