import * as z from 'zod/mini';
import {
  ANY_DATE,
  type DayWords,
  dayAtEnd,
  dayAtStart,
  daysMeant,
  JOINT_OF_DAYS,
  readDay,
  severalAtEnd,
  severalDays,
  unclearDay,
} from './day.ts';
import type { Languages } from './day-names.ts';
import { clockSpan, isWrittenAsDuration, parseDuration, printDuration } from './duration.ts';
import { CHANGED, type CommandFault, excerpt, type Reading, suggesting } from './fault.ts';
import {
  bareWord,
  firstWord,
  idIn,
  idInAddress,
  innerWord,
  inQuotationMarks,
  isInQuotationMarks,
  noteIn,
  unquoted,
  withPlainFigures,
  withSingleBlanks,
} from './words.ts';

const text = z.string();

/** Time to log. Its texts are not empty and have only single spaces. */
export const timeTyped = z.object({
  minutes: z.number(),
  /** A `Day`. */
  day: text,
  /** The task's id or name. */
  task: text,
  /** Set for a text that is certainly an id, such as `#4711`. */
  isId: z.optional(z.literal(true)),
  note: z.optional(text),
  /**
   * Set if the input does not show where the task's name ends: the text from the task on, and the day before the task.
   * Then `task` is only its first word, and `day` and `note` belong to the reading with the shortest name.
   */
  open: z.optional(z.object({ text, day: text })),
  /**
   * Set if the possible days depend on the person's date. The other fields are then read from the text without these
   * words. `text` is everything after the duration. `at` says whether the words are in place of the task, or at the
   * beginning or end of the note.
   */
  unclear: z.optional(z.object({ words: text, others: text, text, at: z.enum(['task', 'note', 'end']) })),
});
export type LogCommand = z.output<typeof timeTyped> & { verb: 'log' };
export type UnclearDay = NonNullable<LogCommand['unclear']>;

/** For example `1 hour and 30 minutes`. */
const LONGEST_DURATION_WORDS = 5;
/** Words that may precede a task: `log 2h on 4711`, `log 2h sur la tâche Login`. */
export const BEFORE_TASK = new Set(
  'on to for in at the auf an für die der das am sur pour en la le para el task ticket issue tâche tarea aufgabe #'.split(
    ' ',
  ),
);
export const MOST_LEAD_INS = 3;

/** Matches `log undo` and `log delete last`. */
const CHANGE_OF_ENTRY =
  /^(?:undo|delete|remove|cancel|edit|change|correct|lösch\p{L}*|rückgängig|annuler|supprimer|borrar)(?: \D*)?$/iu;
/**
 * Matches `log --task Login --time 2h`. Other names count only at the beginning, because elsewhere they may be part of
 * a note.
 */
const OPTION = /^--\p{L}+|(?:^| )--(?:date|day|user|for|time|duration|task|note)(?![\p{L}-])/u;
const IN_QUOTATION_MARKS = /"[^"]*"|[“„][^”“„]*.|«[^«»]*»/g;
export const ONLY_YOURSELF = 'You can log time for yourself only.';
const OF_NOTE = 'If this is a note, put it in quotation marks.';

/** Reads the text after `log`: a duration, the task, a day before or after the task, and a note. */
export function readLog(typed: string, languages: Languages): Reading<LogCommand> {
  // For example `log time 2h 4711` or `log 2h: 4711`.
  const text = withPlainFigures(typed)
    .replace(/^(?:(?:time|please|bitte|mal|por favor|svp) (?=.)|for (?=\d))/i, '')
    .replace(/^(\S+): /, '$1 ');
  const [option] = OPTION.exec(text.replaceAll(IN_QUOTATION_MARKS, '')) ?? [];
  if (option !== undefined)
    return {
      fault: `There are no options such as ${option.trim()}. Write {slash} log <duration> [day] <task> [note].`,
    };
  if (CHANGE_OF_ENTRY.test(text)) return { fault: CHANGED };
  // For example `log @aisha 2h Login` or `log 2h @aisha Login`.
  if (/^(?:\S+ )?<?@/.test(text)) return { fault: ONLY_YOURSELF };
  if (IN_DAYS.test(text)) return { fault: 'Write hours, such as 8h, not days.' };
  const { phrase, rest } = durationPhrase(text);
  if (phrase === '') return { missing: 'a duration and a task' };
  const duration = parseDuration(phrase);
  if ('minutes' in duration) {
    const read = readEntry(duration.minutes, phrase, rest, languages);
    return 'words' in read ? readUnclear(read, phrase, languages) : read;
  }
  const [range, least, most, unit] = RANGE.exec(text) ?? [];
  // Larger numbers are times: `14-16h`.
  if (range !== undefined && (Number(least) < 7 || /^m/i.test(unit ?? ''))) {
    const meant = [least, most].flatMap((amount) =>
      entryOf(`${amount}${unit}`, text.slice(range.length + 1), languages),
    );
    return suggestingLogs(`${excerpt(range)} is more than one duration. Log one of them.`, meant);
  }
  if (!isWrittenAsDuration(phrase)) {
    const ofTimes = withDurationFirst(text, timesAtStart, languages);
    const typedRange = text.slice(0, -(clockSpan(text)?.rest.length ?? text.length) || undefined).trimEnd();
    if (ofTimes)
      return suggestingLogs(`${typedRange ? excerpt(typedRange) : 'This'} is a range. Give one duration.`, ofTimes);
    const moved = withDurationFirst(text, durationAtStart, languages);
    if (moved) return suggestingLogs('The duration comes first.', moved);
  }
  // For example `log Login with passkeys`.
  if (!/\d/.test(text)) return { missing: 'a duration' };
  const meant = duration.suggestions?.flatMap((suggestion) => entryOf(suggestion, rest, languages));
  return suggestingLogs(duration.fault, meant);
}

/** Matches `2-3h` and `2 to 3 hours`. */
const RANGE =
  /^(\d{1,3})(?: ?[-–] ?| (?:to|or|bis|oder|à|ou|a|o) )(\d{1,3}) ?(h|m|hours?|hrs?|min|minutes|std|stunden|minuten|heures|horas)(?= |$)/i;

/** Matches `1 day` and `2d`, but not `2 days ago`. */
const IN_DAYS =
  /^(?:an?|one|half a|(?:einen? )?halbe[nr]|einen?|une?|una?|medio|\d+(?:[.,]\d+)?) ?(?:d|days?|tage?|jours?|journée|d[ií]as?)(?= (?!ago )|$)/i;

/** Returns the command if the words may mean a day and the rest is complete. The worker then asks with the dates. */
function readUnclear(unclear: UnclearDay, phrase: string, languages: Languages): Reading<LogCommand> {
  const duration = parseDuration(phrase);
  if ('fault' in duration) return duration;
  const read = readEntry(duration.minutes, phrase, unclear.others, languages);
  if ('missing' in read || 'fault' in read)
    return 'missing' in read && unclear.others === '' ? { fault: unclearDay(unclear.words, languages, true) } : read;
  const first = dayAtStart(unclear.others, languages);
  const isSecond = 'words' in read || read.command.day !== 'today' || first;
  if (isSecond) {
    const other = 'words' in read ? read.words : (first ?? read.command.day);
    return unclear.at === 'end' ? severalDays(other, unclear.words) : severalDays(unclear.words, other);
  }
  if (daysMeant(unclear.words, languages, ANY_DATE).length > 0) return { command: { ...read.command, unclear } };
  const note = noteWith(unclear, read.command.note);
  const kept = unclear.at === 'task' || read.command.open ? [] : [{ ...read.command, note }];
  return suggestingLogs(unclearDay(unclear.words, languages), kept);
}

/** Returns the note, for the case that the words mean no day. */
export function noteWith({ words, at }: UnclearDay, note: string | undefined): string {
  const parts = note === undefined ? [words] : at === 'end' ? [note, words] : [words, note];
  return parts.join(' ');
}

function suggestingLogs(fault: string, meant: readonly LogCommand[] = []): CommandFault {
  return suggesting(fault, meant.map(printLog));
}

/**
 * Prints the command as a text that is read as the same command: a note is in quotation marks, and so is a task, unless
 * it can only be an id. If the end of the task was unclear, repeats the typed text, behind the day unless the text
 * contains it.
 */
export function printLog({ minutes, day, task, note, isId, open, unclear }: LogCommand): string {
  const duration = printDuration(minutes);
  if (open && !unclear && (open.day !== 'today' || isAllNote(open.text, note)))
    return `log ${duration} ${open.day} ${open.text}`;
  const typed = unclear?.text ?? open?.text;
  if (typed !== undefined) return `log ${durationBefore(typed, minutes)} ${typed}`;
  const named = `${isId ? '#' : ''}${PLAIN_ID.test(task) ? task : inQuotationMarks(task)}`;
  const noted = note === undefined ? [] : [inQuotationMarks(note)];
  return ['log', duration, ...(day === 'today' ? [] : [day]), named, ...noted].join(' ');
}

/**
 * Returns true if no day was read behind the first word, and the first word is no joint between days, such as `and`.
 */
function isAllNote(text: string, note = ''): boolean {
  const { word = '', rest = '' } = firstWord(withoutLeadIn(text)) ?? {};
  return noteIn(rest) === note && !JOINT_OF_DAYS.test(word);
}

/** Matches a text that can only be an id, neither a date nor a part of a duration. */
const PLAIN_ID = /^(?:\d{3,7}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/;

/** Prints the duration so that no word of the following text is read as a part of it. */
function durationBefore(text: string, minutes: number): string {
  const duration = printDuration(minutes);
  const isApart = !/(?:^| )\d{1,2}(?: |$)/.test(text) && durationPhrase(`${duration} ${text}`).phrase === duration;
  return isApart ? duration : `${minutes}m`;
}

/**
 * Returns the command with its duration moved to the front, for input such as `4711 2h wrote tests` or `meetings from
 * 2pm to 3:30pm`. Empty if the result cannot be read.
 */
function withDurationFirst(
  text: string,
  atStart: (text: string) => { duration: string; rest: string } | undefined,
  languages: Languages,
): LogCommand[] | undefined {
  for (let behind = text; behind !== ''; behind = firstWord(behind)?.rest ?? '') {
    const found = atStart(behind);
    const inFront = text.slice(0, text.length - behind.length);
    if (found) return entryOf(found.duration, `${inFront}${found.rest}`.trimEnd(), languages);
  }
  return undefined;
}

function durationAtStart(text: string): { duration: string; rest: string } | undefined {
  const { phrase, rest } = durationPhrase(text);
  return isWrittenAsDuration(phrase) ? { duration: phrase, rest } : undefined;
}

function timesAtStart(text: string): { duration: string; rest: string } | undefined {
  const span = clockSpan(text);
  return span && { duration: printDuration(span.minutes), rest: span.rest };
}

function entryOf(duration: string, text: string, languages: Languages): LogCommand[] {
  const read = parseDuration(duration);
  if ('fault' in read) return [];
  const entry = readEntry(read.minutes, duration, text, languages);
  const reading = 'words' in entry ? readUnclear(entry, duration, languages) : entry;
  return 'command' in reading ? [reading.command] : [];
}

/** Returns the first words that together form a duration, or else only the first word. */
function durationPhrase(text: string): { phrase: string; rest: string } {
  const words = text.split(' ', LONGEST_DURATION_WORDS);
  const lengths = words.map((_, index) => words.length - index);
  const length = lengths.find((length) => isWrittenAsDuration(words.slice(0, length).join(' '))) ?? 1;
  const phrase = words.slice(0, length).join(' ');
  return { phrase, rest: text.slice(phrase.length + 1) };
}

function readEntry(
  minutes: number,
  duration: string,
  text: string,
  languages: Languages,
): Reading<LogCommand> | UnclearDay {
  const ambiguous = secondEntry(text, languages) ?? ambiguousMinutes(duration, text, languages);
  if (ambiguous) return ambiguous;
  const before = readDay(text, languages);
  if (before && 'words' in before) return { ...before, text, at: 'task' };
  if (before && 'fault' in before) return before;
  const fromTask = before?.rest ?? text;
  const task = readTask(fromTask, languages, text.slice(0, text.length - fromTask.length));
  if (!('task' in task)) return task;
  const inFront = text.slice(0, text.length - task.rest.length);
  const after = before ?? readDay(task.rest, languages, true);
  if (after && 'fault' in after) return after;
  const inNote = after && !before ? wordsOf(after) : undefined;
  if (inNote) return { ...inNote, others: (inFront + inNote.others).trimEnd(), text, at: 'note' };
  const day = after && 'day' in after ? after : undefined;
  const rest = before ? task.rest : (day?.rest ?? task.rest);
  // After a day before the task, a note may end with another day, but not consist of it.
  const mayBeDay = before ? dayAtStart(rest, languages, true) === rest : !day;
  const atEnd = mayBeDay && !isInQuotationMarks(rest) ? dayAtEnd(rest, languages) : undefined;
  const several = atEnd && severalAtEnd(atEnd, languages);
  if (several) return several;
  if (atEnd) return { words: atEnd.words, others: (inFront + atEnd.others).trimEnd(), text, at: 'end' };
  const note = noteIn(rest);
  const isOpen = task.isOpen && task.rest !== '' && unquoted(task.rest) === task.rest;
  const second = isOpen ? undefined : secondEntry(rest, languages, true);
  if (second) return second;
  return {
    command: {
      verb: 'log',
      minutes,
      day: day?.day ?? 'today',
      task: task.task,
      ...(task.isId && { isId: true }),
      ...(note !== '' && { note }),
      ...(isOpen && { open: { text: fromTask, day: before?.day ?? 'today' } }),
    },
  };
}

/** Returns words for a day with which a note may begin: `monday`, `gestern getestet`. */
function wordsOf(day: DayWords | { rest: string; inWords?: string }): DayWords | undefined {
  if ('words' in day) return day;
  return day.inWords === undefined || day.rest === '' ? undefined : { words: day.inWords, others: day.rest };
}

/**
 * Returns a fault if more time follows, for another day or task: `2h yesterday and 3h today on Login; log 2h Checkout`.
 * The relay never logs only half of it.
 * @param isNote true at the beginning of a note: `2h Checkout` or `for @tomasz`
 */
export function secondEntry(text: string, languages: Languages, isNote = false): CommandFault | undefined {
  if (isNote && /^(f[oü]r|pou?r) <?@/i.test(text)) return { fault: `${ONLY_YOURSELF} ${OF_NOTE}` };
  let isJoined = isNote;
  for (let behind = text; behind !== ''; ) {
    const isMarked = MARKED_ID.test(behind);
    const first = firstWord(isMarked ? behind.slice(1) : behind);
    if (!first) return undefined;
    const { word } = first;
    const isQuoted = first.isQuoted || isMarked;
    const mayBeTime = !isQuoted && (/\d/.test(word) || (isJoined && /^\p{L}/u.test(word)));
    const { phrase, rest } = mayBeTime ? durationPhrase(behind) : { phrase: '', rest: '' };
    const isTime = isWrittenAsDuration(bareWord(phrase)) && dayAtStart(behind, languages) === undefined;
    if (isTime && (isJoined || dayAtStart(rest, languages) !== undefined)) {
      return {
        fault: `${excerpt(bareWord(phrase))} is a second duration. For two entries, give two commands. ${OF_NOTE}`,
      };
    }
    const isJoint = JOINT.test(word);
    isJoined = !isQuoted && (isJoint || (isJoined && innerWord(word) === ''));
    behind = first.rest;
  }
  return undefined;
}

/** Matches a word before another entry or a correction: `2h Login and 1h Checkout`, `2h Login, no, 1h`. */
const JOINT =
  /^[([]?(?:and|und|et|y|e|log|[&+|/]|or|oder|no|nein|non|nur|only|sorry|actually|eigentlich|rather|eher|plutôt|mejor|mais|pero)$|[,;]$/i;

/**
 * Refuses `1h 30 4711`, which may be an hour and a half on 4711, or an hour on 30. Before a word, only 15, 30 and 45
 * count as minutes.
 */
function ambiguousMinutes(duration: string, text: string, languages: Languages): CommandFault | undefined {
  const [, number, next] = /^(\d{1,2}) (\S+)/.exec(text) ?? [];
  if (number === undefined || next === undefined || Number(number) > 59) return undefined;
  const isHoursAlone = isWrittenAsDuration(`${duration} ${number}m`);
  const isBeforeTask = /\d/.test(next) || isInQuotationMarks(next) || Number(number) % 15 === 0;
  if (!isHoursAlone || !isBeforeTask) return undefined;
  const meant = entryOf(`${duration} ${number}m`, text.slice(number.length + 1), languages);
  const together = parseDuration(`${duration} ${number}m`);
  const both = 'minutes' in together ? printDuration(together.minutes) : `${duration} ${number}m`;
  const fault = `${excerpt(`${duration} ${number}`)} can mean ${both}, or ${duration} on the task ${number}. If you mean the task, put it in quotation marks.`;
  return suggestingLogs(fault, meant);
}

interface TaskRead {
  task: string;
  rest: string;
  isId: boolean;
  /** True if nothing, such as quotation marks, shows where the task ends. */
  isOpen: boolean;
}

function readTask(
  text: string,
  languages: Languages,
  dayBefore: string,
): TaskRead | CommandFault | { missing: string } {
  // Slack formats a link with a label like this.
  const typed = withoutLeadIn(text).replace(/^<(https?:\/\/[^|<> ]+)\|[^<>]*>/, '$1');
  const isId = MARKED_ID.test(typed);
  const first = firstWord(isId ? typed.slice(1) : typed);
  if (!first) return { fault: `The quotation mark before ${excerpt(text.slice(1))} is not closed.` };
  const { rest } = first;
  const read = (task: string, isOpen: boolean) => (task === '' ? { missing: 'a task' } : { task, rest, isId, isOpen });
  if (first.isQuoted) return read(first.word, false);
  const inAddress = idInAddress(first.word);
  if (inAddress !== undefined) return read(inAddress, false);
  if (isId) return read(idIn(first.word) ?? bareWord(first.word), false);
  const day = dayAtStart(`${first.word} ${first.rest}`.trimEnd(), languages, true);
  if (day !== undefined && dayBefore !== '') return severalDays(dayBefore, day);
  if (day !== undefined) return { fault: unclearDay(day, languages) };
  return read(idIn(first.word) ?? bareWord(first.word), true);
}

/** Matches `#4711` and `#"an id"`. */
const MARKED_ID = /^#\S/;

/** Removes lead-in words before an id or a quoted name: `on the task #4711`. */
function withoutLeadIn(text: string): string {
  const words = text.split(' ', MOST_LEAD_INS + 1);
  const inFront = words.slice(0, Math.max(0, words.findIndex(isNamedClearly)));
  return inFront.every((word) => BEFORE_TASK.has(word.toLowerCase()))
    ? text.slice([...inFront, ''].join(' ').length)
    : text;
}

function isNamedClearly(word: string): boolean {
  return isInQuotationMarks(word) || idIn(word) !== undefined || MARKED_ID.test(word);
}

/**
 * Reads a task typed on its own: its id, or its whole name with or without quotation marks. Empty if nothing was typed.
 */
export function taskAsTyped(text: string): string {
  const typed = unquoted(withSingleBlanks(text));
  return idIn(typed) ?? typed;
}
