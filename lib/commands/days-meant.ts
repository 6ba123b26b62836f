import { nearMiss } from '../near-miss.ts';
import { type Day, isInCalendar } from './day.ts';
import { type Languages, namesIn, plain, withoutLeading } from './day-like.ts';

/**
 * The days that words found by day-like.ts may mean: `gestern` is yesterday, `11/12/2026` one of two dates. Empty for a
 * weekday, and for other words that take more than a date.
 *
 * @param today the person's date, if it is known; a month and a day without a year then mean the last such date
 */
export function daysMeant(words: string, languages: Languages, today?: string): Day[] {
  // `yesterday’s bug` is about the bug.
  if (/['’]s\P{L}*$/u.test(words)) return [];
  const { relative, months } = namesIn(languages);
  const meant = withoutLeading(words.split(' ').map(plain));
  const phrase = meant.join(' ');
  const offset = relative.get(phrase) ?? (nearMiss(phrase, ['yesterday']) && -1);
  if (offset === 0) return ['today'];
  if (offset === -1) return ['yesterday'];
  const dates = (meant.length === 1 ? numericDates(phrase) : datesWithMonth(meant, months, today)).map(dateOf);
  return [...new Set(dates)].filter(isInCalendar);
}

type DateParts = [year: string, month: string, day: string];

function numericDates(word: string): DateParts[] {
  const [, year, month, day] = /^(\d{4})[-./]?(\d{1,2})[-./]?(\d{1,2})(?:t|$)/.exec(word) ?? [];
  if (year !== undefined && month !== undefined && day !== undefined) return [[year, month, day]];
  const [, a, mark, b, end] = /^(\d{1,2})([-./])(\d{1,2})[-./](\d{4}|\d\d)$/.exec(word) ?? [];
  if (a === undefined || b === undefined || end === undefined) return [];
  const dayFirst: DateParts = [end, b, a];
  // With dots the day always comes first. `26-11-18` may begin with the year.
  if (mark === '.') return [dayFirst];
  return mark === '-' && end.length === 2 ? [] : [dayFirst, [end, a, b]];
}

/** `18 November 2026`, `November 18th 2026`, `18 Nov` */
function datesWithMonth(words: readonly string[], months: ReadonlyMap<string, number>, today?: string): DateParts[] {
  const month = words.map((word) => months.get(word)).find((month) => month !== undefined);
  const day = words.map((word) => /^\d{1,2}(?!\d)/.exec(word)?.[0]).find((day) => day !== undefined);
  if (!month || !day) return [];
  const typedYear = words.find((word) => /^\d{4}$/.test(word));
  if (typedYear !== undefined) return [[typedYear, String(month), day]];
  const thisYear = Number(today?.slice(0, 4) ?? Number.NaN);
  const last = [thisYear, thisYear - 1]
    .map((year): DateParts => [String(year), String(month), day])
    .find((parts) => today !== undefined && dateOf(parts) <= today);
  return last ? [last] : [];
}

function dateOf([year, month, day]: DateParts): string {
  return [year.length === 2 ? `20${year}` : year, month.padStart(2, '0'), day.padStart(2, '0')].join('-');
}
