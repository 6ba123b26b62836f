import { createRequire } from 'node:module';
import type Holidays from 'date-holidays';
import * as z from 'zod';
import { addDays, DAY_MS, HOUR_MS } from '../dates.ts';
import { unknownName } from '../faults/fault.ts';
import { setting } from './kinds.ts';

/** Last year and the four years from this one: a summary in January covers days of the previous year. */
const YEARS = 5;

const date = z.iso.date('expected a date such as 2026-12-25');

const place = z.strictObject({
  /** ISO 3166-1, such as `DE`. */
  country: z.string(),
  /** The name in date-holidays, mostly as in ISO 3166-2 without the country: `BY`, or `BY-A` for a part of it. */
  region: z.string().optional(),
  /** More days off for the team. */
  extra: z.array(date).default([]),
});

/**
 * A team's days off: a list of dates, or a place with its public holidays. The checked configuration contains only
 * dates. They are computed when it is loaded, so that no Lambda contains date-holidays (12 MB).
 */
export const holidays = setting(
  z.union([z.array(date), place], "expected a list of dates, or a place such as { country: 'DE', region: 'BY' }"),
  'Days off for the whole team: a list of dates, or the public holidays of a country and region, with `extra` dates.',
  { country: 'DE', region: 'BE', extra: ['2026-12-24'] },
)
  .transform((value, context) => {
    if (Array.isArray(value)) return value;
    const { country, region, extra } = value;
    const fault = placeFault(country, region);
    if (fault) {
      context.addIssue({ code: 'custom', ...fault });
      return z.NEVER;
    }
    // Whole years, so that the stack does not depend on the day of its deployment.
    const dates = publicHolidays(country, region, new Date().getUTCFullYear() - 1);
    return [...new Set([...dates, ...extra])].sort();
  })
  .default([]);

/**
 * Returns the dates of a place's public holidays, including days that replace holidays on a weekend. A half holiday is
 * a working day.
 *
 * @param region as in the configuration
 * @param firstYear the first of five years
 */
export function publicHolidays(country: string, region: string | undefined, firstYear: number): string[] {
  const [state = '', part = ''] = region?.split('-') ?? [];
  const calendar = new (loadHolidays())(country, state, part, { types: ['public'] });
  const years = Array.from({ length: YEARS }, (_, index) => firstYear + index);
  return years.flatMap((year) => calendar.getHolidays(year)).flatMap(wholeDays);
}

function wholeDays({ date, start, end }: { date: string; start: Date; end: Date }): string[] {
  const [first = '', time] = date.split(' ');
  if (time !== '00:00:00') return [];
  // The first day of daylight saving time has 23 hours.
  const days = Math.floor((end.getTime() - start.getTime() + HOUR_MS) / DAY_MS);
  return Array.from({ length: days }, (_, index) => addDays(first, index));
}

function placeFault(country: string, region: string | undefined): { path: string[]; message: string } | undefined {
  const countries = new (loadHolidays())().getCountries();
  if (!Object.hasOwn(countries, country)) {
    return { path: ['country'], message: unknownName('no country', country, Object.keys(countries)) };
  }
  if (region === undefined) return undefined;
  const regions = regionsOf(country);
  if (regions.has(region)) return undefined;
  const named = [...regions].map(([code, name]) => `${code} (${name})`).join(', ');
  const known = named ? `there are ${named}` : 'it has none; leave region out';
  return { path: ['region'], message: `no region '${region}' in ${country}; ${known}` };
}

/** Returns the names of a country's regions and of their parts, by code. */
function regionsOf(country: string): Map<string, string> {
  const calendar = new (loadHolidays())();
  // getStates and getRegions return nothing if there are none.
  const states = Object.entries(calendar.getStates(country) ?? {});
  return new Map(
    states.flatMap(([state, name]) => [
      [state, name],
      ...Object.entries(calendar.getRegions(country, state) ?? {}).map(([part, name]): [string, string] => [
        `${state}-${part}`,
        name,
      ]),
    ]),
  );
}

/** Loaded only if a place is configured: reading its data takes longer than the rest of the configuration. */
function loadHolidays(): typeof Holidays {
  return createRequire(import.meta.url)('date-holidays');
}
