import { describe, expect, it } from 'vitest';
import { expectedMinutes, expectedMinutesBetween, isWorkingDay } from '../../lib/timesheets/expected.ts';
import { team } from './team.ts';

const berlin = team({
  hours: { mon: 8, tue: 8, wed: 8, thu: 8, fri: 6.5, sat: 0 },
  holidays: ['2026-11-18'],
  partTime: [{ email: 'Bob@Example.com', hours: { mon: 4, wed: 4, thu: 7.33 } }],
});

describe('what is expected', () => {
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
  ])('the expected time in %s is the sum of its days', (_, email, first, last, minutes) => {
    expect(expectedMinutesBetween(berlin, { email }, first, last)).toBe(minutes);
  });

  it("one person's day off stays a working day of the team", () => {
    expect(isWorkingDay(berlin, '2026-11-17')).toBe(true);
    expect(isWorkingDay(berlin, '2026-11-18')).toBe(false);
    expect(isWorkingDay(berlin, '2026-11-21')).toBe(false);
  });
});
