import type { Command, Day, Reading } from './command.ts';
import { parseDay } from './day.ts';
import { isWrittenAsDuration, parseDuration, printDuration } from './duration.ts';
import { excerpt, type Fault, suggesting } from './fault.ts';
import { asTyped, bareWord, firstWord, inQuotationMarks, unquoted } from './words.ts';

type LogCommand = Extract<Command, { verb: 'log' }>;

/** `1 hour 30 minutes` */
const LONGEST_DURATION_WORDS = 4;

/** Reads what follows `log`: a duration, a day before or after the task, the task, a note. */
export function readLog(text: string): Reading<LogCommand> {
  const { phrase, rest } = durationPhrase(text);
  if (phrase === '') return { missing: 'a duration and a task' };
  const duration = parseDuration(phrase);
  if ('minutes' in duration) return readEntry(duration.minutes, rest);
  const moved = isWrittenAsDuration(phrase) ? undefined : withDurationFirst(text);
  const meant = moved ?? (duration.suggestion === undefined ? undefined : entryOf(duration.suggestion, rest));
  return suggesting(duration.fault, meant && printLog(meant));
}

export function printLog({ minutes, day, task, note }: LogCommand): string {
  const duration = printDuration(minutes);
  const rest = [isPlainTask(task) ? task : inQuotationMarks(task), ...(note === undefined ? [] : [asTyped(note)])];
  const dayless = [duration, ...rest].join(' ');
  // A task such as `30m` would become part of the duration, and the note's first word may be a day.
  const isClear = durationPhrase(dayless).phrase === duration && !beginsWithDay(note ?? '');
  return `log ${day === 'today' && isClear ? dayless : [duration, day, ...rest].join(' ')}`;
}

/** The command if the duration is moved before what is in front of it: `4711 2h wrote tests`. */
function withDurationFirst(text: string): LogCommand | undefined {
  const first = firstWord(text);
  if (!first) return undefined;
  const { phrase, rest } = durationPhrase(first.rest);
  const inFront = text.slice(0, text.length - first.rest.length);
  return entryOf(phrase, inFront + rest);
}

function entryOf(duration: string, text: string): LogCommand | undefined {
  const read = parseDuration(duration);
  if ('fault' in read) return undefined;
  const entry = readEntry(read.minutes, text);
  return 'command' in entry ? entry.command : undefined;
}

/** The first words, as many as make up a duration, or the first one whatever it is. */
function durationPhrase(text: string): { phrase: string; rest: string } {
  const words = text.split(' ', LONGEST_DURATION_WORDS);
  const lengths = words.map((_, index) => words.length - index);
  const length = lengths.find((length) => isWrittenAsDuration(words.slice(0, length).join(' '))) ?? 1;
  const phrase = words.slice(0, length).join(' ');
  return { phrase, rest: text.slice(phrase.length + 1) };
}

function readEntry(minutes: number, text: string): Reading<LogCommand> {
  const before = readDay(text);
  if ('fault' in before) return before;
  const task = readTask(before.rest);
  if (!('task' in task)) return task;
  const after = before.day === undefined ? readDay(task.rest) : { day: before.day, rest: task.rest };
  if ('fault' in after) return after;
  const note = unquoted(after.rest);
  const command = { verb: 'log' as const, minutes, day: after.day ?? 'today', task: task.task };
  return { command: note === '' ? command : { ...command, note } };
}

/** The day that the text begins with, if it does, and what follows. */
function readDay(text: string): { day?: Day; rest: string } | Fault {
  const [word = ''] = text.split(' ', 1);
  const read = parseDay(word);
  if (read === undefined) return { rest: text };
  return 'fault' in read ? read : { day: read.day, rest: text.slice(word.length + 1) };
}

function beginsWithDay(text: string): boolean {
  const read = readDay(text);
  return 'fault' in read || read.day !== undefined;
}

function readTask(text: string): { task: string; rest: string } | Fault | { missing: string } {
  const first = firstWord(text);
  if (!first) return { fault: `The quotation mark before ${excerpt(text.slice(1))} is not closed.` };
  if (!first.isQuoted && parseDay(first.word)) {
    return { fault: `There is a second day, ${excerpt(first.word)}. A task of that name belongs in quotation marks.` };
  }
  const task = first.isQuoted ? first.word : bareWord(first.word);
  return task === '' ? { missing: 'a task' } : { task, rest: first.rest };
}

/** Whether the task is read as it is without quotation marks. */
function isPlainTask(task: string): boolean {
  const read = readTask(task);
  return 'task' in read && read.task === task;
}
