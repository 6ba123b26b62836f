import { type Day, dayAtEnd, daysMeant, likeDay, readDay, severalDays, unclearDay } from '../../commands/day.ts';
import { parseDuration } from '../../commands/duration.ts';
import { excerpt } from '../../commands/fault.ts';
import { noteWith, ONLY_YOURSELF, printLog, secondEntry, type UnclearDay } from '../../commands/log.ts';
import { comparableName, noteIn } from '../../commands/words.ts';
import { unservedCommand } from '../../config/settings.ts';
import { addDays, dateIn } from '../../dates.ts';
import { NotDone } from '../../engine/record/interruption.ts';
import type { Job } from '../../engine/record/job.ts';
import { cutToLength } from '../../text.ts';
import { dayName } from '../../timesheets/reminder-message.ts';
import { findTask, MOST_OFFERED, type ReadTask, SHOWN_LENGTH, type TaskSource, WHAT_WORKS } from './find-task.ts';
import { type AskedTime, type OfferedEntry, offerBlocks, saidBlocks } from './offer-blocks.ts';

/** For the records, which must not contain the note: quotes words only if they mean these days. */
const dayOrNote = (words: string, [date, ...more]: readonly string[]) =>
  `${date === undefined ? 'Some words' : excerpt(words)} may be the day or a part of the note. Write a date before the task, such as ${[date ?? '2026-11-18', ...more].join(' or ')}, or put the note in quotation marks`;

const BLIND = 'With your linked account, Partner Relay cannot look up names of tasks here';

/** Decides what to log. @throws {NotDone} unless that is certain; in Slack with a button for each possible command */
export async function whatToLog(asked: AskedTime, tasks: TaskSource): Promise<OfferedEntry> {
  const { time } = asked;
  // In an open text, the day may belong to a name, and then may be in the future.
  if (!time.open) dateOf(time.day, asked);
  const read = await findTask(time, tasks);
  const readingOf = ({ task, day, note, isNoteUnread, before }: ReadTask): OfferedEntry => ({
    task,
    ...(before && { before }),
    note: isNoteUnread && note ? noteIn(note) : note,
    date: dateOf(day, asked),
  });
  const { unclear } = time;
  if (!('fault' in read)) {
    const reading = readingOf(read);
    const typed = { ...reading, note: read.note };
    if (time.open) refuseDuration(typed, asked, !unclear);
    if (unclear) return dayMeant([reading], unclear, asked, true);
    return (read.isNoteUnread && withDay(typed, asked)) || reading;
  }
  const { fault, said, offered } = read;
  if (offered.length === 0) {
    const isFound = !asked.mcp || unservedCommand('find', asked.mcp, 'find') === undefined;
    const find = isFound ? `To see ids, type ${asked.slash} find <part of the name>.` : 'Write the id of the task.';
    const what = unclear ? unclearDay(unclear.words, asked.languages) : find;
    if (tasks.isBlind) throw new NotDone(`${BLIND}. Write the id of the task`, saidBlocks(`${BLIND}. ${what}`));
    throw new NotDone(`${fault}. ${WHAT_WORKS}`, saidBlocks(`${said}. ${what}`));
  }
  if (unclear) return dayMeant(offered.map(readingOf), unclear, asked, false);
  const readings = offered.flatMap((one): OfferedEntry[] => {
    const reading = readingOf(one);
    if (!one.isNoteUnread) return [reading];
    const typed = { ...reading, note: one.note };
    if (!ONLY_YOURSELF.startsWith(fault)) refuseDuration(typed, asked, false);
    const dated = daysOf(typed, asked, one.before).readings;
    return dated.length === 0
      ? [reading]
      : dated.map((day) => ({ ...day, isKept: day.isKept && offered.length === 1 }));
  });
  // Text before the task that is not understood may be a day.
  const areDated = offered.some(({ before = '' }) => before !== '');
  const blocks = offerBlocks(said, readings, asked, { areDated });
  if (blocks && time.by.in === 'slack') {
    const list = offered.map(({ task: { id, name } }) => `${id} (${cutToLength(name, SHOWN_LENGTH, '…')})`);
    throw new NotDone(`${fault}. Nothing was logged. It may mean ${list.join(' or ')}`, blocks);
  }
  const slash = time.by.in === 'github' ? '/' : `${asked.slash} `;
  const typed = offered.map(readingOf).map(({ task: { id }, date, note }) => {
    const day = date === asked.today ? 'today' : date;
    const log = printLog({ verb: 'log', minutes: time.minutes, day, task: String(id) });
    return `${slash}${log}${note === undefined ? '' : ' <your note>'}`;
  });
  throw new NotDone(`${fault}. Did you mean ${typed.join(' or ')}?`, blocks);
}

/**
 * Returns the entry if only one reading is possible: the words begin a task's name (`mon compte`), or stand alone
 * behind the task.
 * @throws {NotDone} asking which day words such as `monday` mean, or whether they belong to the note
 */
function dayMeant(
  read: readonly OfferedEntry[],
  unclear: UnclearDay,
  asked: AskedTime,
  isCertain: boolean,
): OfferedEntry {
  const { words, at, text } = unclear;
  const [named, ...same] = at === 'task' ? read.filter(({ task }) => beginsWith(text, task.name)) : [];
  if (named && same.length === 0) {
    const note = noteIn(text.split(' ').slice(comparableName(named.task.name).split(' ').length).join(' '));
    return { ...named, note: note === '' ? undefined : note };
  }
  const [first] = read;
  const [alone, ...more] = at === 'end' ? daysMeant(words, asked.languages) : [];
  if (first && isCertain && first.note === undefined && alone !== undefined && more.length === 0) {
    return { ...first, date: dateOf(alone, asked) };
  }
  const days = daysMeant(words, asked.languages, asked.today).map((day) => dateOf(day, asked));
  const dated = read.flatMap((entry) => days.map((date) => ({ ...entry, date })));
  const kept = at === 'task' || !first ? [] : [{ ...first, note: keptNote(first, unclear), isKept: true }];
  const said =
    at === 'task' && days.length > 1
      ? `${excerpt(words)} may mean more than one day`
      : days[0] !== undefined
        ? `${excerpt(words)}: did you mean ${dayName(days[0])}?`
        : unclearDay(words, asked.languages);
  const readings = [...dated.slice(0, MOST_OFFERED), ...kept];
  const instead = `Write a date instead of ${excerpt(words)}, such as ${days.join(' or ')}`;
  throw new NotDone(
    at !== 'task' ? dayOrNote(words, days) : days.length > 0 ? instead : said,
    readings.length === 0 ? saidBlocks(said) : offerBlocks(said, readings, asked, { areDated: true }),
  );
}

/** Returns the note with the words that may mean a day, in the order in which the person typed them. */
function keptNote({ before = '', note = '' }: OfferedEntry, unclear: UnclearDay): string {
  const inFront = note.startsWith(before) ? before : '';
  const behind = note.slice(inFront.length).trim();
  return `${inFront} ${noteWith(unclear, behind === '' ? undefined : behind)}`.trim();
}

function beginsWith(text: string, name: string): boolean {
  const [typed, named] = [comparableName(text), comparableName(name)];
  return typed.startsWith(named) && /^(?:[.,:;!]? |$)/.test(typed.slice(named.length));
}

/**
 * Returns the entry if the note is only a day: `Login with passkeys today`.
 * @throws {NotDone} asking about a note that begins with a day: `Login with passkeys yesterday: wrote tests`
 */
function withDay(entry: OfferedEntry, asked: AskedTime): OfferedEntry | undefined {
  const { words, readings } = daysOf(entry, asked);
  const [first, ...more] = readings;
  if (!first?.isKept && more.length === 0) return first;
  const said = first?.isKept ? unclearDay(words, asked.languages) : likeDay(words);
  const dates = readings.flatMap(({ date, isKept }) => (isKept ? [] : [date]));
  throw new NotDone(dayOrNote(words, dates), offerBlocks(said, readings, asked, { areDated: true }));
}

/**
 * Returns the readings of a note that is a day or begins with one; none for other notes.
 * @throws {NotDone} if the note is only a day, and another day stands before the task
 * @param before the words before the task, which may end with a day: `pairing yesterday Login`
 */
function daysOf({ task, date, note = '' }: OfferedEntry, asked: AskedTime, before = '') {
  const { languages, today } = asked;
  const atStart = readDay(note, languages, true);
  if (atStart && 'fault' in atStart) throw new NotDone(atStart.fault, saidBlocks(atStart.fault));
  const inFront = atStart ? undefined : dayAtEnd(before, languages);
  if (!atStart && !inFront) return { words: '', readings: [] };
  const behind = atStart && 'day' in atStart ? atStart.rest : atStart?.others;
  const others = behind ?? `${inFront?.others}${note.slice(before.length)}`.trim();
  const words = inFront?.words ?? note.slice(0, note.length - others.length).trim();
  const days = atStart && 'day' in atStart ? [atStart.day] : daysMeant(words, languages, today);
  const dated = days.map((day) => ({ task, date: dateOf(day, asked), note: others === '' ? undefined : others }));
  const isAlone = atStart && 'day' in atStart && others === '';
  const { day = 'today' } = asked.time.open ?? {};
  if (isAlone && day !== 'today')
    throw new NotDone('There are two days. Log one day at a time', saidBlocks(severalDays(day, words).fault));
  const readings: OfferedEntry[] = isAlone ? dated : [...dated, { task, date, note, isKept: true }];
  return { words, readings };
}

/** Refuses a note that begins with a duration or is for another person: `log 1h Login with passkeys 3h Checkout`. */
function refuseDuration({ task, date, note = '' }: OfferedEntry, asked: AskedTime, isCertain: boolean): void {
  const entry = secondEntry(note, asked.languages, true);
  if (!entry) return;
  const second = parseDuration(note);
  const readings =
    'minutes' in second
      ? [asked.time.minutes, second.minutes].map((minutes) => ({ task, date, note: undefined, minutes }))
      : [{ task, date, note: noteIn(note), isKept: true }];
  const blocks = isCertain ? offerBlocks(entry.fault, readings, asked) : saidBlocks(entry.fault);
  const isTime = !entry.fault.startsWith(ONLY_YOURSELF);
  const fault = isTime ? 'There is a second duration. For two entries, give two commands' : ONLY_YOURSELF.slice(0, -1);
  throw new NotDone(fault, blocks);
}

function dateOf(day: Day, { today }: AskedTime): string {
  if (day === 'today') return today;
  if (day === 'yesterday') return addDays(today, -1);
  const [, back] = /^-(\d+)d$/.exec(day) ?? [];
  if (back !== undefined) return addDays(today, -Number(back));
  if (day > today) throw new NotDone(`${day} is in the future: you can log time for today or a past day`);
  return day;
}

/** The date in the person's time zone when they asked. */
export function dateAsked({ asked, createdAt }: Job, timeZone: string): string {
  // For a job that acts through an account, this time is signed.
  return dateIn(timeZone, asked?.at ?? createdAt);
}
