import fc from 'fast-check';
import { expect, it } from 'vitest';
import { addDays, datesBetween, mondayOf, WEEKDAYS, weekdayOf } from '../../lib/dates.ts';

const anyDate = fc
  .date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));

it.each([
  ['2026-11-20', 'fri', '2026-11-16'],
  ['2026-11-22', 'sun', '2026-11-16'],
  ['2026-11-23', 'mon', '2026-11-23'],
  ['2027-01-01', 'fri', '2026-12-28'],
  ['2024-02-29', 'thu', '2024-02-26'],
])('%s is a %s of the week from %s', (date, weekday, monday) => {
  expect(weekdayOf(date)).toBe(weekday);
  expect(mondayOf(date)).toBe(monday);
});

it('adding days crosses the ends of months and years, in both directions', () => {
  expect(addDays('2026-12-31', 1)).toBe('2027-01-01');
  expect(addDays('2028-03-01', -1)).toBe('2028-02-29');
});

it('seven days from a Monday are one week', () => {
  fc.assert(
    fc.property(anyDate, (date) => {
      const week = datesBetween(mondayOf(date), addDays(mondayOf(date), 6));
      expect(week.map(weekdayOf)).toEqual(WEEKDAYS);
      expect(week).toContain(date);
    }),
  );
});
