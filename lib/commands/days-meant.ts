import { addDays, mondayOf } from '../dates.ts';
import { nearMiss } from '../near-miss.ts';
import { type Languages, namesIn, plain, withoutLeading } from './day-like.ts';
import { withPlainHyphens } from './words.ts';

/** The day of a time entry: a calendar date as YYYY-MM-DD, or a day relative to the person's own date, such as `-2d`. */
export type Day = 'today' | 'yesterday' | string;

/** For more, a date is clearer. */
const MOST_DAYS_BACK = 60;

/**
 * The days that words found by day-like.ts may mean: `gestern` is yesterday, `11/12/2026` one of two dates. Empty for
 * words that take more than a date.
 *
 * @param today the person's date, if it is known; only then are there days that depend on it, such as those of `monday`
 * and `18.11.`
 */
export function daysMeant(words: string, languages: Languages, today?: string): Day[] {
  // `yesterday’s bug` is about the bug.
  if (/['’]s\P{L}*$/u.test(words)) return [];
  const { relative, months, weekdays, short } = namesIn(languages);
  const typed = words.split(' ').map(plain);
  const ago = daysAgo(withPlainHyphens(words).startsWith('-') ? `${typed[0]} ago` : typed.join(' '), today);
  if (ago) return ago;
  const meant = withoutLeading(typed);
  const phrase = meant.join(' ');
  const offset = relative.get(phrase) ?? (today !== undefined && nearMiss(phrase, ['yesterday']) ? -1 : undefined);
  // In German and Dutch, `hier` is here.
  const isHere = phrase === 'hier' && today === undefined && languages.some((one) => one === 'de' || one === 'nl');
  if (offset !== undefined) return offset > 0 || isHere ? [] : [daysBack(-offset)];
  const named = weekdays.get(phrase) ?? short.get(phrase);
  if (named) {
    const isLast = typed.some((word) => LAST.test(word));
    return today === undefined ? [] : named.flatMap((weekday) => lastDays(weekday, isLast, today));
  }
  const dates = [...new Set(datesOf(meant, months, today))].filter(isInCalendar);
  const past = today === undefined ? [] : dates.filter((date) => date <= today);
  return past.length > 0 ? past : dates;
}

/** Why no time can be logged for the day that the words are: `tomorrow`, `31.11.2026`. Undefined for any others. */
export function whyNoDay(words: string, languages: Languages): string | undefined {
  const { relative, months } = namesIn(languages);
  const meant = withoutLeading(words.split(' ').map(plain));
  if ((relative.get(meant.join(' ')) ?? 0) > 0) return FUTURE;
  const dates = datesOf(meant, months);
  return dates.some(isInCalendar) || dates[0] === undefined ? undefined : `There is no ${dates[0]} in the calendar.`;
}

export const FUTURE = 'You cannot log time in the future. Use today, yesterday or a past date.';

function datesOf(words: readonly string[], months: ReadonlyMap<string, number>, today?: string): string[] {
  return words.length === 1 ? numericDates(words.join(), today) : datesWithMonth(words, months, today);
}

const LAST = /^(?:last|past|previous|letzte[nr]?|vorigen|vorige|afgelopen)$/;
const COUNTS = ['', 'one', 'two', 'three'];

const daysBack = (days: number): Day => ['today', 'yesterday'][days] ?? `-${days}d`;

/** `2 days ago`, `vor einer Woche`. Hours ago may be today or yesterday, and a week ago is said of days around it. */
function daysAgo(phrase: string, today: string | undefined): Day[] | undefined {
  const [, count = '', unit = ''] =
    /^(an?|one|two|three|\d+) ?([a-z]+) ago$/.exec(phrase) ??
    /^vor (ein\w*|zwei|drei|\d+) ?([a-z]+)$/.exec(phrase) ??
    [];
  if (unit === '') return undefined;
  const word = COUNTS.indexOf(count.replace('zwei', 'two').replace('drei', 'three'));
  const number = /\d/.test(count) ? Number(count) : Math.max(word, 1);
  if (!/^[dt]/.test(unit) && today === undefined) return [];
  if (/^[hms]/.test(unit)) return /^m/.test(unit) || number <= 24 ? ['today', 'yesterday'] : [];
  const days = number * (/^w/.test(unit) ? 7 : 1);
  return days >= 1 && days <= MOST_DAYS_BACK ? [daysBack(days)] : [];
}

/** The last such weekday. Today may be meant, too, and a `last` one may be that of the week before. */
function lastDays(weekday: number, isLast: boolean, today: string): Day[] {
  const back = (new Date(today).getUTCDay() - weekday + 7) % 7;
  const isThisWeek = addDays(today, -back) >= mondayOf(today);
  const all = back === 0 || (isLast && isThisWeek) ? [back, back + 7] : [back];
  return all.filter((days) => days > 0 || !isLast).map((days) => addDays(today, -days));
}

type DateParts = [year: string, month: string, day: string];

function numericDates(word: string, today?: string): string[] {
  const [, low, between, high] = /^(\d{1,2})([-./])(\d{1,2})$/.exec(word) ?? [];
  if (low !== undefined && high !== undefined) {
    const dayFirst = lastDate(high, low, today);
    return between === '.' ? dayFirst : [...dayFirst, ...lastDate(low, high, today)];
  }
  return datesWithYear(word).map(dateOf);
}

function datesWithYear(word: string): DateParts[] {
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
function datesWithMonth(words: readonly string[], months: ReadonlyMap<string, number>, today?: string): string[] {
  const month = words.map((word) => months.get(word)).find((month) => month !== undefined);
  const day = words.map((word) => /^\d{1,2}(?!\d)/.exec(word)?.[0]).find((day) => day !== undefined);
  const typedYear = words.find((word) => /^\d{4}$/.test(word));
  if (!day) return [];
  if (month && typedYear !== undefined) return [dateOf([typedYear, String(month), day])];
  if (month) return lastDate(String(month), day, today);
  return [];
}

/** The last date with that month and day, up to today. */
function lastDate(month: string, day: string, today?: string): string[] {
  if (today === undefined) return [];
  const thisYear = Number(today.slice(0, 4));
  const dates = [thisYear, thisYear - 1].map((year) => dateOf([String(year), month, day]));
  return dates.filter((date) => date <= today && isInCalendar(date)).slice(0, 1);
}

function dateOf([year, month, day]: DateParts): string {
  return [year.length === 2 ? `20${year}` : year, month.padStart(2, '0'), day.padStart(2, '0')].join('-');
}

export function isInCalendar(date: string): boolean {
  const time = Date.parse(date);
  // Date rolls some days that a month does not have over into the next month.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date);
}
