import { dayLikeEnd, dayLikeStart, type Languages } from './day-like.ts';
import { type Day, daysMeant, FUTURE, isInCalendar, whyNoDay } from './days-meant.ts';
import { type CommandFault, excerpt } from './fault.ts';
import { innerWord, isInQuotationMarks } from './words.ts';

const DATE = /^\d{4}-\d\d-\d\d$/;

/** Words of a text that probably mean a day, but do not say clearly which one, and the text without them. */
export interface DayWords {
  words: string;
  others: string;
}

/** Words allowed between a task and its day: `on 2026-11-18`. */
const PREPOSITIONS = new Set(['on', 'for', 'from', 'of', 'am', 'vom', 'le', 'el', 'il', 'op', 'last', 'letzten']);

/**
 * Reads the day at the beginning of a text with single spaces: `yesterday`, `(yesterday)`, `on 2026-11-18`. There is no
 * clock here, so any date is accepted.
 *
 * @returns the day and the rest, and the words of a day that is not in English or no plain date; undefined if the text begins with anything else, or with a quotation mark
 * @param isNote true where a note begins: there, `mon compte` is no day
 */
export function readDay(
  text: string,
  languages: Languages,
  isNote = false,
): { day: Day; rest: string; inWords?: string } | DayWords | CommandFault | undefined {
  const typed = withoutMark(text);
  if (isInQuotationMarks(typed)) return undefined;
  const [first = '', second] = typed.split(' ', 2);
  const hasPreposition = second !== undefined && PREPOSITIONS.has(innerWord(first).toLowerCase());
  const word = hasPreposition ? second : first;
  const read = parseDay(word);
  if (read === undefined) {
    const words = dayLikeStart(typed, languages, isNote);
    if (words === undefined) return undefined;
    const others = typed.slice(words.length + 1);
    const [day, ...more] = daysMeant(words, languages);
    return day === undefined || more.length > 0 ? { words, others } : { day, rest: others, inWords: words };
  }
  if ('fault' in read) return read;
  const rest = typed.slice(hasPreposition ? first.length + 1 + word.length : word.length).trimStart();
  return severalDays(rest, languages) ?? { day: read.day, rest };
}

/** `yesterday and today`: an entry has one day. */
function severalDays(rest: string, languages: Languages): CommandFault | undefined {
  const [joint = '', next = ''] = rest.split(' ', 2);
  if (!/^(?:and|to|until|till|through|und|bis|et|au|y|e|i|[&+–-])$/i.test(joint)) return undefined;
  if (parseDay(next) === undefined && dayLikeStart(rest.slice(joint.length + 1), languages) === undefined)
    return undefined;
  return { fault: `There is a second day, ${excerpt(next)}. Time is logged for one day at a time.` };
}

/** `- yesterday` is yesterday. */
function withoutMark(text: string): string {
  const [mark = ''] = text.split(' ', 1);
  const isMark = innerWord(mark) === '' && !isInQuotationMarks(mark);
  return isMark ? text.slice(mark.length + 1) : text;
}

/**
 * The same at the end of a text. The grammar allows no day there, because a note may end with one.
 *
 * @returns undefined if the text does not end with a day
 */
export function dayAtEnd(text: string, languages: Languages): DayWords | undefined {
  const words = dayLikeEnd(text, languages);
  if (words === undefined) return undefined;
  const inFront = text.slice(0, -words.length).trimEnd().split(' ');
  const lastOther = inFront.findLastIndex((word) => !PREPOSITIONS.has(word.toLowerCase()));
  return {
    words: [...inFront.slice(lastOther + 1), words].join(' '),
    others: inFront.slice(0, lastOther + 1).join(' '),
  };
}

export function unclearDay(words: string, languages: Languages): string {
  const why =
    whyNoDay(words, languages) ??
    `${excerpt(words)} looks like a day. Write the day before the task: today, yesterday or a date such as 2026-11-18.`;
  return `${why} If it is a task or a note, put it in quotation marks.`;
}

/** @returns undefined if the word is not a day in a supported form */
export function parseDay(word: string): { day: Day } | CommandFault | undefined {
  const day = innerWord(word).toLowerCase();
  if (day === 'today' || day === 'yesterday') return { day };
  if (day === 'tomorrow') return { fault: FUTURE };
  if (!DATE.test(day)) return undefined;
  return isInCalendar(day) ? { day } : { fault: `There is no ${day} in the calendar.` };
}
