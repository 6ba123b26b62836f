import { addDays, mondayOf } from '../dates.ts';
import { nearMiss } from '../near-miss.ts';
import { type Languages, type Names, namesIn, plain } from './day-names.ts';
import { NUMBER_WORDS } from './duration.ts';
import { type CommandFault, excerpt } from './fault.ts';
import { bareWord, innerWord, inPlainForm, isInQuotationMarks, UUID } from './words.ts';

/** The day of a time entry: a calendar date as YYYY-MM-DD, or a day relative to the person's own date, such as `-2d`. */
export type Day = 'today' | 'yesterday' | string;

/** Words that probably mean a day without saying clearly which, and the text without them. */
export interface DayWords {
  words: string;
  others: string;
}

/**
 * Reads the day at the beginning of a text with single spaces: `yesterday`, `(yesterday)`, `on 2026-11-18`. Accepts any
 * date, because there is no clock here.
 *
 * @returns the day and the rest; also its words if they are not English or a plain date; undefined if the text begins
 *   with anything else, or with a quotation
 * @param isNote true at the beginning of a note, where `mon compte` is not a day
 */
export function readDay(
  text: string,
  languages: Languages,
  isNote = false,
): { day: Day; rest: string; inWords?: string } | DayWords | CommandFault | undefined {
  const typed = withoutMark(text);
  if (isQuoted(typed)) return undefined;
  const range = rangeAtStart(typed, languages);
  if (range !== undefined) return severalDays(range);
  const read = wordsOfDay(typed, languages, isNote);
  if (read === undefined) return undefined;
  const { words, isPlain, days, why } = read;
  if (isPlain && why !== undefined) return { fault: why };
  const rest = typed.slice(words.length + 1);
  const [joint = ''] = rest.split(' ', 1);
  const second = JOINT_OF_DAYS.test(joint) ? dayAtStart(rest.slice(joint.length + 1), languages) : undefined;
  if (second !== undefined) return severalDays(`${words} ${joint} ${second}`);
  const [day, ...more] = days();
  if (day === undefined || more.length > 0) return { words, others: rest };
  return isPlain ? { day, rest } : { day, rest, inWords: words };
}

/** Matches the second word of `today and yesterday`. */
export const JOINT_OF_DAYS = /^(?:and|or|to|until|till|through|und|oder|bis|et|ou|au|y|e|o|i|[&+/–-])$/i;

const EVERY_DAY = /^(?:(?:every|each) (\S+)|all week|jeden tag|die ganze woche|chaque jour|todos los días)(?= |$)/i;

/** The fault for several days, because an entry has only one. */
export function severalDays(...days: string[]): { fault: string } {
  const named = days.map((day) => excerpt(bareWord(day.trim()))).join(' and ');
  const are = days[1] ? 'are two days' : 'is more than one day';
  return {
    fault: `${named} ${are}. Log one day at a time. Put a task or note with a day in quotation marks.`,
  };
}

/** Finds a range such as `Mo-Mi`, `23.-25.11.` or `every day`. */
function rangeAtStart(text: string, languages: Languages): string | undefined {
  const isDay = (one: string) => dayAtStart(one, languages) !== undefined;
  const [every, one = 'day'] = EVERY_DAY.exec(text) ?? [];
  if (every !== undefined && (one.endsWith('day') || isDay(one))) return every;
  const [first = ''] = text.split(' ', 1);
  const [, from = '', to = ''] = /^([^-]+)-([^-]+)$/.exec(inPlainForm(first)) ?? [];
  return isDay(to) && (isDay(from) || /^\d{1,2}\.$/.test(from)) && !isDay(first) ? first : undefined;
}

/** Returns a fault if the words before a day at the end of a text are another day: `el lunes y el martes`. */
export function severalAtEnd({ words, others }: DayWords, languages: Languages): CommandFault | undefined {
  const joint = others.split(' ').at(-1) ?? '';
  const first = JOINT_OF_DAYS.test(joint) ? dayAtEnd(others.slice(0, -joint.length).trimEnd(), languages) : undefined;
  return first && severalDays(`${first.words} ${joint} ${words}`);
}

/** Returns true for `"today"` and `#"today"`, which are tasks. */
const isQuoted = (text: string): boolean => isInQuotationMarks(text.replace(/^#/, ''));

/** Removes the mark from `- yesterday`. */
function withoutMark(text: string): string {
  const [mark = ''] = text.split(' ', 1);
  const isMark = innerWord(mark) === '' && !isQuoted(mark);
  return isMark ? text.slice(mark.length + 1) : text;
}

/** Returns the words at the beginning that may mean a day. */
export const dayAtStart = (text: string, languages: Languages, isNote = false): string | undefined =>
  wordsOfDay(text, languages, isNote)?.words;

/**
 * Finds words at the end of a text that may mean a day. Fewer forms count there: `wrote tests yesterday`, `wrote tests
 * 18.11.`, but not `part 1/2`. `today` counts only alone. The grammar allows no day there, because a note may end with
 * one.
 */
export function dayAtEnd(text: string, languages: Languages): DayWords | undefined {
  // A quotation at the end is a note.
  if (isInQuotationMarks(text.slice(-1))) return undefined;
  const typed = text.split(' ');
  for (let count = Math.min(MOST_WORDS, typed.length); count > 0; count--) {
    const words = typed.slice(-count).join(' ');
    const read = wordsOfDay(words, languages, true);
    const mayEnd = read?.mayEnd || (count === typed.length && read?.days().length);
    if (read?.words === words && mayEnd) return { words, others: typed.slice(0, -count).join(' ') };
  }
  return undefined;
}

/**
 * Returns the days that the words may mean: `gestern` is yesterday, `11/12/2026` is one of two dates. Empty for words
 * that do not determine a date.
 *
 * @param today the person's date, if known. Without it, words that depend on it, such as `monday` and `18.11.`, mean no
 *   day
 */
export function daysMeant(words: string, languages: Languages, today?: string): Day[] {
  return wordsOfDay(words, languages)?.days(today) ?? [];
}

/** @param isAlone nothing else is left to be the task */
export function unclearDay(words: string, languages: Languages, isAlone = false): string {
  const why = wordsOfDay(words, languages)?.why;
  const how = isAlone
    ? 'Write the task after it.'
    : 'Before the task, write one day: today, yesterday or a date such as 2026-11-18.';
  const what = why ?? `${likeDay(words)} ${how}`;
  return `${what} If ${excerpt(words)} is a task or a note, put it in quotation marks.`;
}

/** Shown when the possible days are offered. */
export const likeDay = (words: string): string => `${excerpt(words)} looks like a day.`;

/** Words that may mean a day. */
interface Phrase {
  words: string;
  /** True for today, yesterday, tomorrow, and an ISO date. A note that begins with one of them is about that day. */
  isPlain: boolean;
  /** True if these words may also be at the end of a text. */
  mayEnd: boolean;
  days(today?: string): Day[];
  /** Why no time can be logged for that day, as for `tomorrow` or `31.11.2026`. */
  why?: string | undefined;
}

/** The result of one form of day. */
interface Form extends Partial<Pick<Phrase, 'mayEnd' | 'why'>> {
  /** How many words it consumes. */
  count: number;
  /** The days; none for words that only look like a day. */
  days?(today?: string): Day[];
}

/** A date by which every day of its year has passed. */
export const ANY_DATE = '2024-12-31';
const FUTURE = 'You cannot log time in the future. Use today, yesterday or a past date.';
/** Words that may precede a day: `last monday`, `am Montag`. */
const LEADING = new Set(
  'on for from of at since until the last past this previous early late am vom von seit den dem letzten letzter letzte vorigen diesen le du el del il lo la op afgelopen vorige em na no w we dne'.split(
    ' ',
  ),
);
const MOST_WORDS = 6;
/** Beyond this, a date is clearer. */
const MOST_DAYS_BACK = 60;

/**
 * Finds the words at the beginning of a text with single spaces that may mean a day: `monday`, `18.11.`, `gestern`,
 * `Nov 18`, `2 days ago`. Undefined if the text begins with anything else, such as a quotation.
 */
function wordsOfDay(text: string, languages: Languages, isNote = false): Phrase | undefined {
  const first = text.split(' ', MOST_WORDS);
  const quoted = first.findIndex(isQuoted);
  const typed = quoted < 0 ? first : first.slice(0, quoted);
  const names = namesIn(languages);
  const words = typed.map(plain);
  const led = words.findIndex((word) => !LEADING.has(word));
  const skipped = led < 0 ? words.length : led;
  const rest = words.slice(skipped);
  const isOn = words.slice(0, skipped).some((word) => /^(?:on|am)$/.test(word));
  const isLast = words.slice(0, skipped).some((word) => LAST.test(word));
  const marked = { first: typed[skipped] ?? '', typed: typed.slice(skipped), isLed: skipped > 0, isOn, isLast, isNote };
  const ofWhole = daysBack(typed[0] ?? '') ?? daysAgo(words.join(' ')) ?? partOfToday(words.join(' '));
  const ofRest =
    weekdayWithDate(rest, names, marked) ?? dateIn(rest, names, marked) ?? nameIn(rest, names, marked, languages);
  const form = ofWhole ?? (ofRest && { ...ofRest, count: skipped + ofRest.count }) ?? vagueIn(words.join(' '));
  if (!form) return undefined;
  const { count, mayEnd = false, days = () => [], why } = form;
  const taken = typed.slice(0, count).join(' ');
  const isVague = words.slice(0, skipped).some((word) => /^(?:early|late|since|until|seit)$/.test(word));
  const isPlain = count === skipped + 1 && !isVague && PLAIN.test(innerWord(marked.first).toLowerCase());
  // `yesterday’s bug` is about the bug, so it means no day.
  return { words: taken, isPlain, mayEnd, days: /['’]s\P{L}*$/u.test(taken) ? () => [] : days, why };
}

const PLAIN = /^(?:today|yesterday|tomorrow|\d{4}-\d\d-\d\d)$/;
const LAST = /^(?:last|past|previous|letzte[nr]?|vorigen|vorige|afgelopen)$/;

interface Marked {
  /** The first word after the leading words, as typed. */
  first: string;
  typed: readonly string[];
  isLed: boolean;
  isOn: boolean;
  isLast: boolean;
  isNote: boolean;
}

const wordsIn = (phrase: string) => phrase.split(' ').length;
const back = (days: number): Day => ['today', 'yesterday'][days] ?? `-${days}d`;
const upToMost = (days: number): Day[] => (days >= 1 && days <= MOST_DAYS_BACK ? [back(days)] : []);

/** Reads `-2d`. */
function daysBack(word: string): Form | undefined {
  const [, days] = /^-(\d+)d$/.exec(inPlainForm(word)) ?? [];
  if (days === undefined) return undefined;
  const why =
    Number(days) > MOST_DAYS_BACK
      ? `${excerpt(word)} is more than ${MOST_DAYS_BACK} days ago. Write its date.`
      : undefined;
  return { count: 1, days: () => upToMost(Number(days)), why };
}

const FEW =
  'a few|several|some|a couple of|ein paar|einigen|mehreren|vielen|quelques|plusieurs|unos|unas|algunos|varios';
const AGO = new RegExp(
  [
    String.raw`^(?:(?<en>${FEW}|\p{L}+|\d+) ?(?<enUnit>d|days?|w|weeks?|h|hrs?|hours?|min|minutes?) ago`,
    String.raw`vor (?<de>${FEW}|\p{L}+|\d+) ?(?<deUnit>tag(?:en?)?|wochen?|stunden?|std|h|min(?:uten?)?)`,
    String.raw`(?:il y a|hace|há) (?<fr>${FEW}|\p{L}+|\d+) (?<frUnit>jours?|semaines?|d[ií]as?|semanas?)`,
    String.raw`\S+ (?:giorn[oi]|settiman[ae]) fa|\S+ (?:dagen|dag|weken) geleden)(?!\p{L})`,
  ].join('|'),
  'u',
);
const FEW_ONLY = new RegExp(`^(?:${FEW})$`);

/**
 * Reads `2 days ago` or `vor einer Woche`. Hours ago may be today or yesterday, and a week ago may be a day around it.
 */
function daysAgo(text: string): Form | undefined {
  const match = AGO.exec(text);
  if (!match) return undefined;
  const { en, de = en, fr: count = de, enUnit, deUnit = enUnit, frUnit: unit = deUnit } = match.groups ?? {};
  const number = count === undefined ? undefined : Number(NUMBER_WORDS.get(count) ?? count);
  // For example `vor dem Tag`.
  if (count !== undefined && Number.isNaN(number) && !FEW_ONLY.test(count)) return undefined;
  const days = (today?: string): Day[] => {
    const [isDays, isWeeks] = [/^[dtj]/.test(unit ?? ''), /^(?:w|sem)/.test(unit ?? '')];
    if (number === undefined || Number.isNaN(number) || (!isDays && today === undefined)) return [];
    if (isDays || isWeeks) return upToMost(number * (isWeeks ? 7 : 1));
    return unit?.startsWith('m') || number <= 24 ? ['today', 'yesterday'] : [];
  };
  return { count: wordsIn(match[0]), mayEnd: true, days };
}

/** Reads `this morning` or `ce matin`. */
function partOfToday(text: string): Form | undefined {
  const phrase =
    /^(?:this (?:morning|afternoon|evening)|tonight|ce (?:matin|soir)|cet(?:te)? après-midi|(?:esta|(?:por|de|en) la) (?:mañana|tarde|noche))(?!\p{L})/u.exec(
      text,
    );
  return phrase ? { count: wordsIn(phrase[0]), mayEnd: true, days: () => ['today'] } : undefined;
}

/** Reads `last week` or `the other day`, which determine no day. */
function vagueIn(text: string): Form | undefined {
  const phrase =
    /^(?:(?:(?:last|past|previous|letzten?|vorigen?) (?:night|week|month|evening|woche|monat)|(?:la )?(?:semaine|semana) (?:dernière|passée|pasada))|(?:the )?(?:other day|day before))/.exec(
      text,
    );
  return phrase ? { count: wordsIn(phrase[0]) } : undefined;
}

/** Matches short names that are not other English words, unlike `sat` and `sun`. */
const SHORT_WEEKDAY = /^(?:mon|tue|wed|thu|fri)$/;

/**
 * Matches a word behind the name of a day: `gestern Abend`, `mardi dernier`. No English words, because a task may begin
 * with them: `today Morning standup`.
 */
const PART_OF_DAY = /^(?:früh|morgen|vormittag|mittag|nachmittag|abend|matin|après-midi|soir|dernier|passé|pasado)$/;

/** Reads the name of a day. */
function nameIn(rest: readonly string[], names: Names, marked: Marked, languages: Languages): Form | undefined {
  const [first = '', second = ''] = rest;
  if (!/^\p{L}/u.test(first)) return undefined;
  const { weekdays, relative, short, long } = names;
  const ofWeekday = (numbers: readonly number[] = []) => ({
    days: (today?: string) =>
      today === undefined ? [] : numbers.flatMap((number) => lastDays(number, marked.isLast, today)),
  });
  const phrase = [...weekdays.keys(), ...relative.keys()].find((one) => beginsWith(rest.join(' '), one));
  if (phrase !== undefined) {
    const named = wordsIn(phrase);
    const count = named + (PART_OF_DAY.test(rest[named] ?? '') ? 1 : 0);
    const offset = relative.get(phrase);
    const mayEnd = offset !== 0;
    // Without a space, more words follow: `昨日の`.
    if (rest.slice(0, named).join(' ') !== phrase) return { count: named };
    if (offset === undefined) return { count, mayEnd, ...ofWeekday(weekdays.get(phrase)) };
    if (offset > 0) return { count, mayEnd, why: FUTURE };
    // In German and Dutch, `hier` means here.
    const isOnlyFrench = languages.includes('fr') && !languages.some((one) => one === 'de' || one === 'nl');
    const mayBeHere = phrase === 'hier' && !isOnlyFrench;
    return { count, mayEnd, days: (today) => (mayBeHere && today === undefined ? [] : [back(-offset)]) };
  }
  const near = UUID.test(first) ? undefined : nearMiss(first, long);
  if (near !== undefined) {
    const offset = relative.get(near);
    const { days } = ofWeekday(weekdays.get(near));
    return { count: 1, days: (today) => (offset === undefined || today === undefined ? days(today) : [back(-offset)]) };
  }
  // A short name without punctuation may be another word: `sat with Tom` is a note, but `Sat: wrote tests` begins with
  // a day.
  const isMarked = second === '' || /^\d/.test(second) || /[.,:;)\]–—-]$/.test(marked.first);
  const isDay = short.has(first) && (isMarked || (!marked.isNote && SHORT_WEEKDAY.test(first)));
  return isDay ? { count: 1, ...ofWeekday(short.get(first)) } : undefined;
}

function beginsWith(text: string, phrase: string): boolean {
  if (!text.startsWith(phrase)) return false;
  // Chinese and Japanese have no spaces between words.
  return /\p{sc=Han}$/u.test(phrase) || !/^[\p{L}\p{N}]/u.test(text.slice(phrase.length));
}

/**
 * Returns the last such weekday. If today is that weekday, it is possible, too. `last` may also mean the previous week.
 */
function lastDays(weekday: number, isLast: boolean, today: string): Day[] {
  const days = (new Date(today).getUTCDay() - weekday + 7) % 7;
  const isThisWeek = addDays(today, -days) >= mondayOf(today);
  const all = days === 0 || (isLast && isThisWeek) ? [days, days + 7] : [days];
  return all.filter((days) => days > 0 || !isLast).map((days) => addDays(today, -days));
}

/** Reads `Donnerstag, 26.11.2026` or `26.11. (Thu)`. A date on another weekday means no day. */
function weekdayWithDate(rest: readonly string[], names: Names, marked: Marked): Form | undefined {
  const weekdayOf = (word = '') => names.weekdays.get(word) ?? names.short.get(word);
  const inFront = weekdayOf(rest[0]);
  const typed = inFront ? marked.typed.slice(1) : marked.typed;
  const date = dateIn(inFront ? rest.slice(1) : rest, names, { ...marked, first: typed[0] ?? '', typed });
  const weekday = inFront ?? weekdayOf(rest[date?.count ?? rest.length]);
  if (!date || !weekday) return undefined;
  const isThatDay = (day: Day) => weekday.includes(new Date(day).getUTCDay());
  const days = (today?: string) => {
    const all = date.days?.(today) ?? [];
    return today === ANY_DATE ? all : all.filter(isThatDay);
  };
  return { ...date, count: date.count + 1, days };
}

type DateParts = [year: string, month: string, day: string];

const ORDINAL = /^\d{1,2}(?:st|nd|rd|th|\.|º|er)?$/;

/** Reads a date such as `18.11.`, `11/18/2026`, `Nov 18` or `18 de noviembre 2026`. */
function dateIn([first = '', second = '', third = '', ...more]: readonly string[], { months }: Names, marked: Marked) {
  const ofDates = (count: number, mayEnd: boolean, datesOf: (today?: string) => string[]): Form => {
    const [one = marked.typed.slice(0, count).join(' ')] = datesOf();
    const why = datesOf(ANY_DATE).some(isInCalendar) ? undefined : `${excerpt(one)} is not a date.`;
    const days = (today?: string) => {
      const dates = [...new Set(datesOf(today))].filter(isInCalendar);
      const past = today === undefined ? [] : dates.filter((date) => date <= today);
      return past.length > 0 ? past : dates;
    };
    return { count, mayEnd, days, why };
  };
  const [, a = '', mark = '', b = ''] = /^(\d{1,2})([-./])(\d{1,2})$/.exec(first) ?? [];
  const [low, high] = [Math.min(Number(a), Number(b)), Math.max(Number(a), Number(b))];
  if (low >= 1 && low <= 12 && high <= 31) {
    const monthFirst = (today?: string) => (mark === '.' ? [] : lastDate(a, b, today));
    const mayEnd = marked.first.endsWith('.');
    return ofDates(1, mayEnd, (today) => [...lastDate(b, a, today), ...monthFirst(today)]);
  }
  const withYear = datesWithYear(first).map(dateOf);
  if (withYear.length > 0) return ofDates(1, SEVERAL_PARTS.test(first), () => withYear);
  if (SEVERAL_PARTS.test(first)) return { count: 1, mayEnd: true };
  // For example `11月18日` or `11월18일`.
  if (/^\d{1,2}[月월]|^\d{1,2}[日일]/.test(first)) return { count: 1 };
  const isOf = /^(?:de|of|di)$/.test(second);
  const [other, year] = isOf ? [third, more[0]] : [second, third];
  const [month, day] = ORDINAL.test(first) ? [months.get(other), first] : [months.get(first), other];
  if (month !== undefined && ORDINAL.test(day)) {
    const number = String(Number.parseInt(day, 10));
    const isWithYear = /^20\d\d$/.test(year ?? '');
    return ofDates((isOf ? 3 : 2) + (isWithYear ? 1 : 0), true, (today) =>
      isWithYear ? [dateOf([year ?? '', String(month), number])] : lastDate(String(month), number, today),
    );
  }
  // For example `the 18th`, `am 18.` and `on the 18th Login`, but not `the 2nd draft`.
  const isAlone = marked.typed.length === 1 && !marked.isLed && ORDINAL.test(first) && /\p{L}$/u.test(first);
  if (isAlone) return ofDates(1, false, (today) => lastOfMonth(first, today));
  const isLone =
    marked.isLed &&
    (second === '' || (marked.isOn && !marked.isNote)) &&
    /^\d{1,2}(?:st|nd|rd|th|\.)$/.test(marked.first);
  return isLone ? ofDates(1, true, (today) => lastOfMonth(first, today)) : undefined;
}

const SEVERAL_PARTS = /^\d{4}[-./]\d{1,2}[-./]\d{1,2}(?:$|t)|^\d{1,2}[-./]\d{1,2}[-./](?:\d{4}|\d{2})$/;

/** Reads `2026-11-18`, `20261118`, `18.11.26` or `11/18/2026`. */
function datesWithYear(word: string): DateParts[] {
  const [, year, month, day] =
    /^(\d{4})[-./](\d{1,2})[-./](\d{1,2})(?:t|$)/.exec(word) ??
    /^(20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$/.exec(word) ??
    [];
  if (year !== undefined && month !== undefined && day !== undefined) return [[year, month, day]];
  const [, a, mark, b, end] = /^(\d{1,2})([-./])(\d{1,2})[-./](\d{4}|\d\d)$/.exec(word) ?? [];
  if (a === undefined || b === undefined || end === undefined) return [];
  const dayFirst: DateParts = [end, b, a];
  // With dots, the day always comes first. `26-11-18` may begin with the year.
  if (mark === '.') return [dayFirst];
  return mark === '-' && end.length === 2 ? [] : [dayFirst, [end, a, b]];
}

/** Returns the last date with this day of the month, up to today. */
function lastOfMonth(ordinal: string, today?: string): string[] {
  if (today === undefined) return [];
  const day = String(Number.parseInt(ordinal, 10)).padStart(2, '0');
  // No day of the month is missing in two consecutive months.
  const dates = Array.from({ length: 62 }, (_, days) => addDays(today, -days));
  return dates.filter((date) => date.endsWith(`-${day}`)).slice(0, 1);
}

/** Returns the last date with this month and day, up to today. */
function lastDate(month: string, day: string, today?: string): string[] {
  if (today === undefined) return [];
  const thisYear = Number(today.slice(0, 4));
  const dates = [thisYear, thisYear - 1].map((year) => dateOf([String(year), month, day]));
  return dates.filter((date) => date <= today && isInCalendar(date)).slice(0, 1);
}

function dateOf([year, month, day]: DateParts): string {
  return [year.length === 2 ? `20${year}` : year, month.padStart(2, '0'), day.padStart(2, '0')].join('-');
}

function isInCalendar(date: string): boolean {
  const time = Date.parse(date);
  // For a day that a month lacks, Date may roll over into the next month.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date);
}
