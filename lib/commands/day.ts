import { dayLikeStart } from './day-like.ts';
import { excerpt, type Fault } from './fault.ts';
import { innerWord, isInQuotationMarks } from './words.ts';

/** The day of a time entry: a date of the calendar as YYYY-MM-DD, or a day as seen from where the person is. */
export type Day = 'today' | 'yesterday' | string;

const DATE = /^\d{4}-\d\d-\d\d$/;
/** What may stand between a task and its day: `on 2026-11-18`. */
const PREPOSITIONS = new Set(['on', 'for', 'from', 'of', 'am', 'vom', 'le', 'el', 'il', 'op']);

/**
 * Reads the day that a text with single blanks begins with: `yesterday`, `(yesterday)`, `on 2026-11-18`. How far off a
 * date is, is not looked at: there is no clock here.
 *
 * @returns the day and what follows; a fault for what looks like a day and is not written as one; undefined for a text
 *   that begins with anything else, or with a quotation mark
 */
export function readDay(text: string): { day: Day; rest: string } | Fault | undefined {
  const typed = withoutMark(text);
  if (isInQuotationMarks(typed)) return undefined;
  const [first = '', second] = typed.split(' ', 2);
  const isPrepared = second !== undefined && PREPOSITIONS.has(innerWord(first).toLowerCase());
  const word = isPrepared ? second : first;
  const read = parseDay(word);
  if (read === undefined) return notADay(dayLikeStart(typed));
  if ('fault' in read) return read;
  const rest = typed.slice(isPrepared ? first.length + 1 + word.length : word.length).trimStart();
  return severalDays(rest) ?? { day: read.day, rest };
}

/** `yesterday and today`: an entry has one day. */
function severalDays(rest: string): Fault | undefined {
  const [joint = '', next = ''] = rest.split(' ', 2);
  if (!/^(?:and|to|until|till|through|und|bis|et|au|y|e|i|[&+–-])$/i.test(joint)) return undefined;
  if (parseDay(next) === undefined && dayLikeStart(rest.slice(joint.length + 1)) === undefined) return undefined;
  return { fault: `There is a second day, ${excerpt(next)}. Time is logged for one day at a time.` };
}

/** `- yesterday` is yesterday. */
function withoutMark(text: string): string {
  const [mark = ''] = text.split(' ', 1);
  const isMark = innerWord(mark) === '' && !isInQuotationMarks(mark);
  return isMark ? text.slice(mark.length + 1) : text;
}

/** What is told of words with which a day was probably meant, but not in a form that says which. */
export function notADay(words: string | undefined): Fault | undefined {
  if (words === undefined) return undefined;
  return {
    fault: `${excerpt(words)} looks like a day. A day is today, yesterday or a date such as 2026-11-18; a task or a note that looks like one belongs in quotation marks.`,
  };
}

/** @returns undefined for a word that is not a day in one of the forms that are understood */
export function parseDay(word: string): { day: Day } | Fault | undefined {
  const day = innerWord(word).toLowerCase();
  if (day === 'today' || day === 'yesterday') return { day };
  if (day === 'tomorrow') return { fault: 'Time is logged once it is spent: today, yesterday or a date of the past.' };
  if (!DATE.test(day)) return undefined;
  return isInCalendar(day) ? { day } : { fault: `There is no ${day} in the calendar.` };
}

function isInCalendar(date: string): boolean {
  const time = Date.parse(date);
  // Some days that a month does not have are taken for days of the next.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date);
}
