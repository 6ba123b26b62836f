import { type Day, notADay, parseDay, readDay } from './day.ts';
import { dayLikeEnd, dayLikeStart, type Languages } from './day-like.ts';
import { isWrittenAsDuration, parseDuration, printDuration } from './duration.ts';
import { type CommandFault, excerpt, type Reading, suggesting } from './fault.ts';
import {
  asTyped,
  bareWord,
  firstWord,
  idIn,
  inQuotationMarks,
  isInQuotationMarks,
  unquoted,
  withSingleBlanks,
} from './words.ts';

/** Time to log. Texts are not empty and have single spaces only. */
export interface LogCommand {
  verb: 'log';
  minutes: number;
  day: Day;
  /** The task's id or name. */
  task: string;
  note?: string;
}

/** `1 hour 30 minutes` */
const LONGEST_DURATION_WORDS = 4;
/** Words allowed before a task's id or its quoted name: `log 2h on 4711`. */
const BEFORE_TASK = new Set([
  'on',
  'to',
  'for',
  'in',
  'at',
  'auf',
  'an',
  'für',
  'sur',
  'en',
  'task',
  'ticket',
  'issue',
  '#',
]);

/** Reads the text after `log`: a duration, the task, a day before or after the task, and a note. */
export function readLog(text: string, languages: Languages): Reading<LogCommand> {
  const { phrase, rest } = durationPhrase(text);
  if (phrase === '') return { missing: 'a duration and a task' };
  const duration = parseDuration(phrase);
  if ('minutes' in duration) return readEntry(duration.minutes, phrase, rest, languages);
  const moved = isWrittenAsDuration(phrase) ? undefined : withDurationFirst(text, languages);
  const meant =
    moved ?? (duration.suggestion === undefined ? undefined : entryOf(duration.suggestion, rest, languages));
  return suggesting(duration.fault, meant && printLog(meant, languages));
}

export function printLog(command: LogCommand, languages: Languages): string {
  const { minutes, day, task, note } = command;
  const duration = printDuration(minutes);
  const rest = [
    isPlainTask(task, languages) ? task : inQuotationMarks(task),
    ...(note === undefined ? [] : [asTyped(note)]),
  ];
  const dayless = rest.join(' ');
  return `log ${isReadAs(command, duration, dayless, languages) ? `${duration} ${dayless}` : [duration, day, ...rest].join(' ')}`;
}

/**
 * True if this text is read as the same command. A task could be read as minutes, or the first word of a note as a day.
 */
function isReadAs(
  { minutes, day, task, note }: LogCommand,
  duration: string,
  text: string,
  languages: Languages,
): boolean {
  if (durationPhrase(`${duration} ${text}`).phrase !== duration) return false;
  const read = readEntry(minutes, duration, text, languages);
  if (!('command' in read)) return false;
  return read.command.day === day && read.command.task === task && read.command.note === note;
}

/** The command with its duration moved to the front, for input such as `4711 2h wrote tests`. */
function withDurationFirst(text: string, languages: Languages): LogCommand | undefined {
  const first = firstWord(text);
  if (!first) return undefined;
  const { phrase, rest } = durationPhrase(first.rest);
  const inFront = text.slice(0, text.length - first.rest.length);
  return entryOf(phrase, inFront + rest, languages);
}

function entryOf(duration: string, text: string, languages: Languages): LogCommand | undefined {
  const read = parseDuration(duration);
  if ('fault' in read) return undefined;
  const entry = readEntry(read.minutes, duration, text, languages);
  return 'command' in entry ? entry.command : undefined;
}

/** The first words that together are a duration, or else just the first word. */
function durationPhrase(text: string): { phrase: string; rest: string } {
  const words = text.split(' ', LONGEST_DURATION_WORDS);
  const lengths = words.map((_, index) => words.length - index);
  const length = lengths.find((length) => isWrittenAsDuration(words.slice(0, length).join(' '))) ?? 1;
  const phrase = words.slice(0, length).join(' ');
  return { phrase, rest: text.slice(phrase.length + 1) };
}

function readEntry(minutes: number, duration: string, text: string, languages: Languages): Reading<LogCommand> {
  const minutesAside = asideMinutes(duration, text, languages);
  if (minutesAside) return minutesAside;
  const before = readDay(text, languages);
  if (before && 'fault' in before) return before;
  const task = readTask(before?.rest ?? text, languages);
  if (!('task' in task)) return task;
  const after = before ?? readDay(task.rest, languages);
  if (after && 'fault' in after) return after;
  const rest = before ? task.rest : (after?.rest ?? task.rest);
  const atTheEnd = after || isInQuotationMarks(rest) ? undefined : notADay(dayLikeEnd(rest, languages));
  if (atTheEnd) return atTheEnd;
  const note = unquoted(rest);
  const command = { verb: 'log' as const, minutes, day: after?.day ?? 'today', task: task.task };
  return { command: note === '' ? command : { ...command, note } };
}

/** `1h 30 4711` may be an hour and a half on 4711, or an hour on 30. */
function asideMinutes(duration: string, text: string, languages: Languages): CommandFault | undefined {
  const [, number, next] = /^(\d{1,2}) (\S+)/.exec(text) ?? [];
  if (number === undefined || next === undefined || Number(number) > 59) return undefined;
  const isHoursAlone = isWrittenAsDuration(`${duration} ${number}m`);
  if (!isHoursAlone || !(/\d/.test(next) || isInQuotationMarks(next))) return undefined;
  const meant = entryOf(`${duration} ${number}m`, text.slice(number.length + 1), languages);
  const fault = `${excerpt(`${duration} ${number}`)} may be ${duration}${number}m, or ${duration} on task ${number}. In the second case, put the task in quotation marks.`;
  return suggesting(fault, meant && printLog(meant, languages));
}

function readTask(
  text: string,
  languages: Languages,
): { task: string; rest: string } | CommandFault | { missing: string } {
  const first = firstWord(withoutLeadIn(text));
  if (!first) return { fault: `The quotation mark before ${excerpt(text.slice(1))} is not closed.` };
  if (first.isQuoted) return first.word === '' ? { missing: 'a task' } : { task: first.word, rest: first.rest };
  if (parseDay(first.word)) {
    return { fault: `There is a second day, ${excerpt(first.word)}. If it is a task, put it in quotation marks.` };
  }
  const dayLike = notADay(dayLikeStart(`${first.word} ${first.rest}`.trimEnd(), languages));
  if (dayLike) return dayLike;
  const task = idIn(first.word) ?? bareWord(first.word);
  return task === '' ? { missing: 'a task' } : { task, rest: first.rest };
}

/** The text without up to two lead-in words before an id or a quoted name: `on task #4711`. */
function withoutLeadIn(text: string): string {
  const [first = '', second = '', third = ''] = text.split(' ', 3);
  if (!BEFORE_TASK.has(first.toLowerCase())) return text;
  if (isNamedClearly(second)) return text.slice(first.length + 1);
  const isTwice = BEFORE_TASK.has(second.toLowerCase()) && isNamedClearly(third);
  return isTwice ? text.slice(first.length + second.length + 2) : text;
}

function isNamedClearly(word: string): boolean {
  return isInQuotationMarks(word) || idIn(word) !== undefined;
}

/** A task typed on its own: its id, or its whole name with or without quotation marks. Empty if nothing was typed. */
export function taskAsTyped(text: string): string {
  const typed = unquoted(withSingleBlanks(text));
  return idIn(typed) ?? typed;
}

/** True if the task is read correctly without quotation marks. */
function isPlainTask(task: string, languages: Languages): boolean {
  const read = readTask(task, languages);
  return 'task' in read && read.task === task && read.rest === '';
}
