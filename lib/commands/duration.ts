import { type CommandFault, excerpt } from './fault.ts';
import { inPlainForm, withSingleBlanks } from './words.ts';

/** Whole minutes, from 1 to one day. A fault's suggestions are possible durations. */
type ParsedDuration = { minutes: number } | CommandFault;

const DAY_MINUTES = 24 * 60;

const NUMBER = String.raw`\d+(?:[.,]\d+)?|[.,]\d+`;
const HOUR_UNITS = String.raw`h|hrs?|hours?|std\.?|stunden?|heures?|horas?|uur|uren|ora|ore`;
const MINUTE_UNITS = String.raw`m|mins?|min\.|minut(?:es?|en|os?|i|a|y)|minuut`;
const HOURS = `(?<hours>${NUMBER}) ?(?:${HOUR_UNITS})`;
const MINUTES = `(?<minutes>${NUMBER}) ?(?:${MINUTE_UNITS})`;
/** Matches the joint in `1h and 30m`. */
const JOINT = ' ?(?:(?:and|und|et|y|e|en|&|,) )?';
/** Minutes in words. */
const IN_WORDS = new Map(
  Object.entries({
    15: "quarter of an hour|eine viertelstunde|un quart d'heure|un cuarto de hora",
    30: 'half an hour|a half hour|half hour|halbe stunde|eine halbe stunde|une demi-heure|demi-heure|media hora',
    45: "trois quarts d'heure|3 quarts d'heure|dreiviertelstunde|tres cuartos de hora",
    90: 'eineinhalb stunden|anderthalb stunden',
  }).flatMap(([minutes, forms]) => forms.split('|').map((form) => [form, minutes] as const)),
);
/** Number words in English, German, French and Spanish. */
export const NUMBER_WORDS: ReadonlyMap<string, string> = new Map(
  'a an one ein eine einem einen einer un une una|two zwei deux dos|three drei trois tres|four vier quatre cuatro|five fünf cinq cinco|six sechs seis|seven sieben sept siete|eight acht huit ocho|nine neun neuf nueve|ten zehn dix diez'
    .split('|')
    .flatMap((words, index) => words.split(' ').map((word) => [word, String(index + 1)] as const)),
);
const NUMBER_WORD = new RegExp(`^(\\p{L}+)(?= (?:${HOUR_UNITS}|${MINUTE_UNITS}|and an? ))`, 'iu');
/** Matches `2 heures et demie`, `hora y media`, `an hour and a quarter`, `one and a half hours`. */
const AND_A_PART = new RegExp(
  `^(\\d*)( ?(?:${HOUR_UNITS}))? (?:(and a half|und eine halbe|et demie?|y media)|and a quarter|et quart|y cuarto)(?=$| )`,
  'i',
);
/** Matches `2 1/2 h` and `2½h`. */
const HALF = /^(?:(\d+) )?1\/2(?= ?\p{L})|^(\d*) ?½(?= ?\p{L})/u;
const BARE_NUMBER = new RegExp(`^(?:${NUMBER})$`);
const SHAPES = [
  new RegExp(`^${HOURS}(?:${JOINT}${MINUTES})?$`, 'i'),
  new RegExp(`^${MINUTES}$`, 'i'),
  new RegExp(String.raw`^(?<hours>\d+):(?<minutes>\d\d)(?: ?(?:${HOUR_UNITS}))?$`, 'i'),
  /^(?<hours>\d+)h(?<minutes>\d\d)$/i,
];

/**
 * Reads a duration: `1h30m`, `1.5h`, `1,5 hours`, `90 min`, `1:30`, `1h30`.
 *
 * Decimal hours are accepted if a whole number of minutes rounds to them: 1.33h is 1 h 20 min, which timesheets show as
 * 1.33. No whole minute rounds to 1.34h, so that is refused, not rounded.
 */
export function parseDuration(text: string): ParsedDuration {
  const typed = inPlainForm(withSingleBlanks(text));
  const amount = withoutSign(typed);
  if (BARE_NUMBER.test(amount)) return withoutUnit(amount);
  const parts = partsOf(amount);
  if (!parts) return { fault: `${excerpt(typed)} is not a duration such as 1h30m, 1.5h, 90m or 1:30.` };
  const read = total(parts, excerpt(amount));
  if ('fault' in read || amount === typed) return read;
  const positive = printDuration(read.minutes);
  const why = typed.startsWith('-') ? 'negative' : 'not exact';
  return { fault: `${excerpt(typed)} is ${why}. Did you mean ${positive}?`, suggestions: [positive] };
}

const TIME = String.raw`(\d{1,2})(?:[:.h](\d\d))?(?: ?(?:h|uhr|am|pm))?`;
const CLOCK_SPAN = new RegExp(
  `^(?:(?:from|von|de|desde|between|zwischen|entre) ${TIME} ?(?:-|to|until|till|and|bis|und|à|a|et|hasta|y) ?|${TIME}-)${TIME}(?= |$)`,
  'i',
);

const LONGEST_SPAN = 40;

/** Returns the duration between two times, and the text behind them: `9:00-11:30 Login`, `von 9 bis 11`. */
export function clockSpan(text: string): { minutes: number; rest: string } | undefined {
  const typed = inPlainForm(text.slice(0, LONGEST_SPAN)).replace(/^(\S+:\d\d) - (?=\d)/, '$1-');
  const match = CLOCK_SPAN.exec(typed);
  if (!match) return undefined;
  const [all, a, aMinutes, b, bMinutes, end, endMinutes] = match;
  const minuteOfDay = (hours?: string, minutes = '0') => Number(hours) * 60 + Number(minutes);
  const from = minuteOfDay(a ?? b, aMinutes ?? bMinutes);
  let to = minuteOfDay(end, endMinutes);
  // For example `11am-1pm`.
  while (to <= from) to += DAY_MINUTES / 2;
  return { minutes: to - from, rest: typed.slice(all.length + 1) + text.slice(LONGEST_SPAN) };
}

/** Prints whole minutes, from 0 up, as people type them: `1h30m`, `2h`, `45m`. */
export function printDuration(minutes: number): string {
  const hours = Math.floor(minutes / 60);
  const rest = minutes % 60;
  if (hours === 0) return `${rest}m`;
  return rest === 0 ? `${hours}h` : `${hours}h${rest}m`;
}

/**
 * Returns true if a text with single spaces has the form of a duration with a unit, even with a value that is not
 * allowed.
 */
export function isWrittenAsDuration(text: string): boolean {
  return partsOf(withoutSign(inPlainForm(text))) !== undefined;
}

/** The typed numbers. At least one is set. */
interface DurationParts {
  hours?: string | undefined;
  minutes?: string | undefined;
}

function withoutSign(typed: string): string {
  return typed.replace(/^[-~≈] ?/, '');
}

function partsOf(typed: string): DurationParts | undefined {
  // Every form has a unit or a colon. Without this check, a long list of ids would be searched word by word.
  if (!/[\p{L}:]/u.test(typed)) return undefined;
  const inWords = IN_WORDS.get(typed.toLowerCase());
  if (inWords !== undefined) return { minutes: inWords };
  const amount = typed
    .replace(HALF, '$1$2.5')
    .replace(NUMBER_WORD, (word) => NUMBER_WORDS.get(word.toLowerCase()) ?? word)
    .replace(AND_A_PART, (_, number, unit = '', half) => `${number || 1}.${half === undefined ? '25' : '5'}${unit}`);
  for (const shape of SHAPES) {
    const match = shape.exec(amount);
    if (match) return match.groups;
  }
  return undefined;
}

function total({ hours, minutes }: DurationParts, shown: string): ParsedDuration {
  if (minutes !== undefined && decimals(minutes) > 0) {
    return { fault: `${shown} has a fraction of a minute. Use whole minutes, such as 90m.` };
  }
  if (hours === undefined) return withinDay(value(minutes ?? ''), shown);
  if (minutes === undefined) return decimalHours(hours, shown);
  if (decimals(hours) > 0) {
    return { fault: `${shown} mixes decimal hours and minutes. Use 1h30m or 1.5h.` };
  }
  const sum = withinDay(value(hours) * 60 + value(minutes), shown);
  if ('fault' in sum || value(minutes) <= 59) return sum;
  const either = `${value(minutes)}m or ${printDuration(sum.minutes)}`;
  return { fault: `${shown} has too many minutes. Did you mean ${either}?` };
}

function decimalHours(hours: string, shown: string): ParsedDuration {
  const exact = value(hours) * 60;
  const nearest = withinDay(Math.round(exact), shown);
  if ('fault' in nearest) return nearest;
  const isItsDecimal = Math.abs(nearest.minutes / 60 - value(hours)) <= 0.5 * 10 ** -decimals(hours);
  if (isItsDecimal) return nearest;
  const around = [Math.floor(exact), Math.ceil(exact)].filter((minutes) => minutes >= 1 && minutes <= DAY_MINUTES);
  return { fault: `${shown} is not a whole number of minutes. Use ${around.map(printDuration).join(' or ')}.` };
}

function withinDay(minutes: number, shown: string): ParsedDuration {
  if (minutes < 1) return { fault: `${shown} is too short. The minimum is 1m.` };
  if (minutes > DAY_MINUTES) return { fault: `${shown} is too long. The maximum is 24h a day.` };
  return { minutes };
}

/** Returns the possible units, and suggests each. */
function withoutUnit(amount: string): CommandFault {
  const shown = excerpt(amount);
  const hours = total({ hours: amount }, shown);
  const minutes = total({ minutes: amount }, shown);
  const fault = (either: string) => `${shown} has no unit. Use ${either}.`;
  if ('minutes' in hours) {
    const suggestions = [printDuration(hours.minutes)];
    if (!('minutes' in minutes)) return { fault: fault(`${value(amount)}h or ${hours.minutes}m`), suggestions };
    suggestions.push(printDuration(minutes.minutes));
    return { fault: fault(suggestions.join(' or ')), suggestions };
  }
  if ('minutes' in minutes) {
    const spellings = new Set([`${minutes.minutes}m`, printDuration(minutes.minutes)]);
    return { fault: fault([...spellings].join(' or ')), suggestions: [printDuration(minutes.minutes)] };
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
