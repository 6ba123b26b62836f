import { nearMiss } from '../near-miss.ts';
import { innerWord, withPlainHyphens } from './words.ts';

/**
 * Recognizes ways to write a day that the grammar does not support. Without this check, a note that begins with one
 * would be logged for today although the person meant another day, so the person is asked. The names of days and months
 * come from ICU, which is built into Node.
 */

/** The languages that the team writes in: `slack.languages`. Words of English always count, as those of commands. */
export type Languages = readonly string[];

/** Before a day: `last monday`, `am Montag`. */
const LEADING = new Set([
  ...['on', 'for', 'from', 'of', 'at', 'since', 'until', 'the', 'last', 'past', 'this', 'previous', 'early', 'late'],
  ...['am', 'vom', 'von', 'seit', 'den', 'dem', 'letzten', 'letzter', 'letzte', 'vorigen', 'diesen', 'le', 'du', 'el'],
  ...['del', 'il', 'lo', 'la', 'op', 'afgelopen', 'vorige', 'em', 'na', 'no', 'w', 'we', 'dne'],
]);
const MOST_WORDS = 6;

const SEVERAL_PARTS = /^\d{4}[-./]\d{1,2}[-./]\d{1,2}(?:$|t)|^\d{1,2}[-./]\d{1,2}[-./](?:\d{4}|\d{2})$/;
const TWO_PARTS = /^(\d{1,2})[-./](\d{1,2})$/;
/** `20261118` */
const COMPACT = /^20\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$/;
/** `11月18日`, `11월18일` */
const EAST_ASIAN = /^\d{1,2}[月월]|^\d{1,2}[日일]/;
const AGO =
  /^(?:an?|one|two|three|\d+) ?(?:d|days?|w|weeks?|h|hrs?|hours?|min|minutes?) ago|^(?:the )?day before yesterday|^vor \w+ ?(?:tag|woche|stunde|std|h$|minute)\w*|^(?:il y a|hace|há) \S+ (?:jour|semaine|d[ií]a|semana)|^\S+ (?:giorn[oi]|settiman[ae]) fa|^\S+ (?:dagen|dag|weken) geleden/;
/** `-2d` */
const MINUS_DAYS = /^-\d+d$/;
const LAST = /^(?:last|past|previous) (?:night|week|month|evening)|^(?:the )?(?:other day|day before)/;
const YEAR = /^20\d\d$/;
/** The short names that are no other words of English, as `sat` and `sun` are. */
const SHORT_WEEKDAY = /^(?:mon|tue|wed|thu|fri)$/;
const ORDINAL = /^\d{1,2}(?:st|nd|rd|th|\.|º|er)?$/;

/**
 * The words at the beginning of a text with single spaces that may be meant as a day: `monday`, `18.11.`, `gestern`,
 * `Nov 18`, `2 days ago`. Undefined if it begins with anything else.
 * @param isNote true where a note begins
 */
export function dayLikeStart(text: string, languages: Languages, isNote = false): string | undefined {
  const typed = text.split(' ', MOST_WORDS);
  if (MINUS_DAYS.test(withPlainHyphens(typed[0] ?? ''))) return typed[0];
  const words = typed.map((word) => plain(word));
  const counted = wordsOfPhrase(words) ?? wordsOfDate(words, typed, namesIn(languages), isNote);
  return counted === undefined ? undefined : typed.slice(0, counted).join(' ');
}

/** The number of words in a phrase such as `2 days ago` at the beginning. */
function wordsOfPhrase(words: readonly string[]): number | undefined {
  const text = words.join(' ');
  const phrase = AGO.exec(text) ?? LAST.exec(text);
  return phrase?.[0].split(' ').length;
}

function wordsOfDate(
  words: readonly string[],
  typed: readonly string[],
  names: Names,
  isNote: boolean,
): number | undefined {
  const rest = withoutLeading(words);
  const skipped = words.length - rest.length;
  const [first = '', second = '', third = ''] = rest;
  if (isNumericDate(first) || EAST_ASIAN.test(first)) return skipped + 1;
  const withYear = (counted: number) => counted + (YEAR.test(words[counted] ?? '') ? 1 : 0);
  if (isWithMonth(first, second, names)) return withYear(skipped + 2);
  // `18 de noviembre`, `18th of November`
  if (isWithMonth(first, third, names) && /^(?:de|of|di)$/.test(second)) return withYear(skipped + 3);
  // `the 18th`, `am 18.`, but not `the 2nd draft`
  const isLed = skipped > 0 && /^\d{1,2}(?:st|nd|rd|th|\.)$/.test(typed[skipped] ?? '');
  if (isLed && second === '') return skipped + 1;
  if (!/^\p{L}/u.test(first)) return undefined;
  const phrase = dayPhrases(names).find((phrase) => beginsWith(rest.join(' '), phrase));
  if (phrase !== undefined) return skipped + phrase.split(' ').length;
  if (nearMiss(first, ['yesterday'])) return skipped + 1;
  // A short name without punctuation may be any word: `sat with Tom` is a note, `Sat: wrote tests` begins with a day.
  const isMarked = second === '' || /^\d/.test(second) || /[.,:;)\]–—-]$/.test(typed[skipped] ?? '');
  const isDay = isMarked || (!isNote && SHORT_WEEKDAY.test(first));
  return isDay && names.short.has(first) ? skipped + 1 : undefined;
}

/**
 * The same at the end of a text, where fewer forms count: `wrote tests yesterday`, `wrote tests 18.11.`, but not `part
 * 1/2`.
 */
export function dayLikeEnd(text: string, languages: Languages): string | undefined {
  const names = namesIn(languages);
  const ends = [4, 3, 2].map((count) => text.split(' ').slice(-count));
  const isPhrase = (words: readonly string[]) => {
    const phrase = words.map(plain).join(' ');
    return (names.relative.get(phrase) ?? 0) !== 0 || AGO.exec(phrase)?.[0].split(' ').length === words.length;
  };
  const phrase = ends.find(isPhrase);
  if (phrase) return phrase.join(' ');
  const typed = text.split(' ').slice(-3);
  const count = YEAR.test(plain(typed.at(-1) ?? '')) ? 3 : 2;
  const [first = '', second = ''] = typed.slice(-count).map(plain);
  if (isWithMonth(first, second, names)) return typed.slice(-count).join(' ');
  const last = plain(typed.at(-1) ?? '');
  const isDotted = TWO_PARTS.test(last) && isNumericDate(last) && typed.at(-1)?.endsWith('.');
  const isDate = SEVERAL_PARTS.test(last) || isDotted;
  const isName = /^\p{L}/u.test(last) && names.relative.get(last) !== 0 && dayPhrases(names).includes(last);
  return isDate || isName ? typed.at(-1) : undefined;
}

/** Languages in which "today" and "yesterday" are recognized, to say that the relay does not read them. */
const OTHER_LANGUAGES = ['de', 'fr', 'es', 'it', 'pt', 'nl', 'pl'];

/** Today or yesterday in a language that the team does not write in: `gestern`. */
export function dayInOther(word: string, languages: Languages): { day: string; language: string } | undefined {
  for (const language of OTHER_LANGUAGES.filter((one) => !languages.includes(one))) {
    const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
    const day = ['today', 'yesterday'].find((_, back) => relative.format(-back, 'day') === word.toLowerCase());
    if (day !== undefined) return { day, language };
  }
  return undefined;
}

/** The words without those that may come before a day. */
export function withoutLeading(words: readonly string[]): readonly string[] {
  const begin = words.findIndex((word) => !LEADING.has(word));
  return begin < 0 ? [] : words.slice(begin);
}

export function plain(word: string): string {
  return innerWord(withPlainHyphens(word))
    .normalize('NFC')
    .toLowerCase()
    .replace(/['’]s$/, '');
}

function isNumericDate(word: string): boolean {
  if (SEVERAL_PARTS.test(word) || COMPACT.test(word)) return true;
  const [, a = '', b = ''] = TWO_PARTS.exec(word) ?? [];
  const [low, high] = [Math.min(Number(a), Number(b)), Math.max(Number(a), Number(b))];
  return low >= 1 && low <= 12 && high <= 31;
}

/** `18 Nov`, `Nov 18`, `18. November` */
function isWithMonth(a: string, b: string, { months }: Names): boolean {
  if (ORDINAL.test(a)) return months.has(b);
  return ORDINAL.test(b) && months.has(a);
}

function beginsWith(text: string, phrase: string): boolean {
  if (!text.startsWith(phrase)) return false;
  // Chinese and Japanese have no spaces between words.
  return /\p{sc=Han}$/u.test(phrase) || !/^[\p{L}\p{N}]/u.test(text.slice(phrase.length));
}

interface Names {
  /** With their numbers, 0 for Sunday. In another language, a short name may be another day. */
  weekdays: Map<string, number[]>;
  /** Words for today and the days around it, and how many days later that is. */
  relative: Map<string, number>;
  short: Map<string, number[]>;
  /** With their numbers, from 1 on. */
  months: Map<string, number>;
}

/** By languages. Built on first use, because most Slack requests do not need it. */
const known = new Map<string, Names>();
export function namesIn(languages: Languages): Names {
  const key = languages.join();
  const names = known.get(key) ?? readNames(new Set(['en', ...languages]));
  known.set(key, names);
  return names;
}

function dayPhrases({ weekdays, relative }: Names): string[] {
  return [...weekdays.keys(), ...relative.keys()];
}

function readNames(languages: ReadonlySet<string>): Names {
  const sets = {
    weekdays: new Map<string, number[]>(),
    relative: new Map<string, number>(),
    short: new Map<string, number[]>(),
    months: new Map<string, number>(),
  };
  const wordOf = (name: string) => name.split(' ').map(plain).join(' ');
  // ICU has no word for it.
  sets.relative.set('day before yesterday', -2);
  for (const language of languages) {
    const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
    for (const days of [-2, -1, 0, 1]) {
      const name = relative.format(days, 'day');
      // Some languages have no word for the day before yesterday and use a number instead.
      if (/\d/.test(name)) continue;
      sets.relative.set(wordOf(name), days);
    }
    for (const [style, weekdays] of [
      ['long', sets.weekdays],
      ['short', sets.short],
    ] as const) {
      const weekday = new Intl.DateTimeFormat(language, { weekday: style, timeZone: 'UTC' });
      // A Sunday is the first.
      for (let day = 0; day < 7; day++) {
        const word = wordOf(weekday.format(Date.UTC(2026, 1, day + 1)));
        weekdays.set(word, [...new Set([...(weekdays.get(word) ?? []), day])]);
      }
      const month = new Intl.DateTimeFormat(language, { day: 'numeric', month: style, timeZone: 'UTC' });
      for (let index = 0; index < 12; index++) {
        const part = month.formatToParts(Date.UTC(2026, index, 1)).find(({ type }) => type === 'month');
        if (part && /^\p{L}/u.test(part.value)) sets.months.set(wordOf(part.value), index + 1);
      }
    }
  }
  for (const names of Object.values(sets)) {
    // A single-letter abbreviation, as in Hungarian, would match any such letter.
    for (const name of [...names.keys()]) if (name.length < 2) names.delete(name);
  }
  return sets;
}
