import { excerpt, type Fault } from './fault.ts';
import { withPlainHyphens, withSingleBlanks } from './words.ts';

/** Whole minutes, from 1 to those of a day. The suggestion of a fault is a duration that was probably meant. */
export type ParsedDuration = { minutes: number } | Fault;

const DAY_MINUTES = 24 * 60;

const NUMBER = String.raw`\d+(?:[.,]\d+)?|[.,]\d+`;
const HOUR_UNITS = String.raw`h|hrs?|hours?|std\.?|stunden?|heures?|horas?|uur|uren|ora|ore`;
const MINUTE_UNITS = String.raw`m|mins?|min\.|minut(?:es?|en|os?|i|a|y)|minuut`;
const HOURS = `(?<hours>${NUMBER}) ?(?:${HOUR_UNITS})`;
const MINUTES = `(?<minutes>${NUMBER}) ?(?:${MINUTE_UNITS})`;
const BARE_NUMBER = new RegExp(`^(?:${NUMBER})$`);
const SHAPES = [
  new RegExp(`^${HOURS}(?: ?${MINUTES})?$`, 'i'),
  new RegExp(`^${MINUTES}$`, 'i'),
  new RegExp(String.raw`^(?<hours>\d+):(?<minutes>\d\d)(?: ?(?:${HOUR_UNITS}))?$`, 'i'),
  /^(?<hours>\d+)h(?<minutes>\d\d)$/i,
];

/**
 * Reads a time worked: `1h30m`, `1.5h`, `1,5 hours`, `90 min`, `1:30`, `1h30`.
 *
 * Decimal hours are taken where they are a whole number of minutes as hours with that many decimals: 1.33h is 1 h 20
 * min, which timesheets show so. 1.34h is no minute's decimal, and is refused rather than rounded.
 */
export function parseDuration(text: string): ParsedDuration {
  const typed = withPlainHyphens(withSingleBlanks(text));
  const amount = withoutSign(typed);
  if (BARE_NUMBER.test(amount)) return withoutUnit(amount);
  const parts = partsOf(amount);
  if (!parts) return { fault: `${excerpt(typed)} is not a duration such as 1h30m, 1.5h, 90m or 1:30.` };
  const read = total(parts, excerpt(amount));
  if ('fault' in read || amount === typed) return read;
  const positive = printDuration(read.minutes);
  return { fault: `${excerpt(typed)} is less than nothing: ${positive} would be right.`, suggestion: positive };
}

/** Whole minutes, from 0 upwards, as they are typed: `1h30m`, `2h`, `45m`. */
export function printDuration(minutes: number): string {
  const hours = Math.floor(minutes / 60);
  const rest = minutes % 60;
  if (hours === 0) return `${rest}m`;
  return rest === 0 ? `${hours}h` : `${hours}h${rest}m`;
}

/** Whether a text with single blanks is written as a duration is, with its unit, be it a possible one or not. */
export function isWrittenAsDuration(text: string): boolean {
  return partsOf(withoutSign(withPlainHyphens(text))) !== undefined;
}

/** The numbers as they were typed, at least one of them. */
interface Parts {
  hours?: string | undefined;
  minutes?: string | undefined;
}

function withoutSign(typed: string): string {
  return typed.replace(/^- ?/, '');
}

function partsOf(amount: string): Parts | undefined {
  for (const shape of SHAPES) {
    const match = shape.exec(amount);
    if (match) return match.groups;
  }
  return undefined;
}

function total({ hours, minutes }: Parts, shown: string): ParsedDuration {
  if (minutes !== undefined && decimals(minutes) > 0) {
    return { fault: `${shown} has a part of a minute. Whole minutes would be right, such as 90m.` };
  }
  if (hours === undefined) return withinDay(value(minutes ?? ''), shown);
  if (minutes === undefined) return decimalHours(hours, shown);
  if (decimals(hours) > 0) {
    return { fault: `${shown} has a part of an hour and minutes as well. 1h30m or 1.5h would be right.` };
  }
  const sum = withinDay(value(hours) * 60 + value(minutes), shown);
  if ('fault' in sum || value(minutes) <= 59) return sum;
  const either = `${value(minutes)}m or ${printDuration(sum.minutes)}`;
  return { fault: `${shown} has too many minutes: after hours they go to 59. ${either} would be right.` };
}

function decimalHours(hours: string, shown: string): ParsedDuration {
  const exact = value(hours) * 60;
  const nearest = withinDay(Math.round(exact), shown);
  if ('fault' in nearest) return nearest;
  const isItsDecimal = Math.abs(nearest.minutes / 60 - value(hours)) <= 0.5 * 10 ** -decimals(hours);
  if (isItsDecimal) return nearest;
  const around = [Math.floor(exact), Math.ceil(exact)].filter((minutes) => minutes >= 1 && minutes <= DAY_MINUTES);
  return { fault: `${shown} is no whole number of minutes. ${around.map(printDuration).join(' or ')} would be right.` };
}

function withinDay(minutes: number, shown: string): ParsedDuration {
  if (minutes < 1) return { fault: `${shown} is no time. 1m is the least.` };
  if (minutes > DAY_MINUTES) return { fault: `${shown} is more than a day has. 24h is the most for one day.` };
  return { minutes };
}

/** Says which units it could have, and suggests the only possible one. */
function withoutUnit(amount: string): Fault {
  const shown = excerpt(amount);
  const hours = total({ hours: amount }, shown);
  const minutes = total({ minutes: amount }, shown);
  const fault = (either: string) => `${shown} has no unit. ${either} would be right.`;
  if ('minutes' in hours) {
    if ('minutes' in minutes) return { fault: fault(`${hours.minutes / 60}h or ${minutes.minutes}m`) };
    return { fault: fault(`${value(amount)}h or ${hours.minutes}m`), suggestion: printDuration(hours.minutes) };
  }
  if ('minutes' in minutes) {
    const spellings = new Set([`${minutes.minutes}m`, printDuration(minutes.minutes)]);
    return { fault: fault([...spellings].join(' or ')), suggestion: printDuration(minutes.minutes) };
  }
  const isWhole = decimals(amount) === 0 && value(amount) > 0;
  return isWhole ? { fault: fault('1h30m, 1.5h or 90m') } : hours;
}

function value(number: string): number {
  return Number(number.replace(',', '.'));
}

function decimals(number: string): number {
  return number.split(/[.,]/)[1]?.length ?? 0;
}
