import { describe, expect, it } from 'vitest';
import { publicHolidays } from '../../lib/config/holidays.ts';
import { team } from '../timesheets/team.ts';

const of = (country: string, region?: string) =>
  publicHolidays(country, region, 2026).filter((date) => date.startsWith('2026'));

const BAVARIA = '01-01 01-06 04-03 04-06 05-01 05-14 05-25 06-04 10-03 11-01 12-25 12-26'.split(' ');

describe('public holidays', () => {
  it('are those of the region and its part', () => {
    expect(of('DE', 'BY')).toEqual(BAVARIA.map((day) => `2026-${day}`));
    expect(of('DE', 'BY-A')).toEqual([...BAVARIA, '08-08', '08-15'].sort().map((day) => `2026-${day}`));
    expect(of('DE')).not.toContain('2026-01-06');
  });

  const SEKER = ['2026-03-20', '2026-03-21', '2026-03-22'];
  it.each([
    ['the day that replaces one on a weekend', 'GB', '2026-12-26', ['2026-12-28']],
    ['each day of a holiday of several days, but not the half day', 'TR', '2026-03-19', SEKER],
    ['a day of 25 hours', 'PM', '2026-10-31', ['2026-11-01']],
  ])('have %s', (_, country, after, expected) => {
    const later = of(country).filter((date) => date > after);
    expect(later.slice(0, expected.length)).toEqual(expected);
  });

  it('include the day of 23 hours on which daylight saving begins', () => {
    expect(publicHolidays('DE', 'BB', 2027)).toContain('2027-03-28');
  });

  it('do not include half holidays', () => {
    expect(of('IS').filter((date) => date >= '2026-12')).toEqual(['2026-12-25', '2026-12-26']);
  });

  it('cover five years', () => {
    const years = new Set(publicHolidays('US', undefined, 2025).map((date) => date.slice(0, 4)));
    expect([...years]).toEqual(['2025', '2026', '2027', '2028', '2029']);
  });

  it('are dates in the checked configuration, from last year on, with further dates, sorted and without duplicates', () => {
    const year = new Date().getUTCFullYear();
    const { holidays } = team({ holidays: { country: 'DE', extra: [`${year}-12-24`, `${year}-12-25`] } });
    expect(holidays.filter((date) => date.startsWith(`${year}-12`))).toEqual(
      ['24', '25', '26'].map((day) => `${year}-12-${day}`),
    );
    expect(holidays[0]).toBe(`${year - 1}-01-01`);
    expect(holidays).toEqual(holidays.toSorted());
  });
});
