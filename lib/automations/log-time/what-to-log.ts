import { readDay, unclearDay } from '../../commands/day.ts';
import { type Day, daysMeant } from '../../commands/days-meant.ts';
import { parseDuration, printDuration } from '../../commands/duration.ts';
import { excerpt } from '../../commands/fault.ts';
import { noteWith, type UnclearDay } from '../../commands/log.ts';
import { unquoted } from '../../commands/words.ts';
import { addDays, dateIn } from '../../dates.ts';
import { NotDone } from '../../engine/record/interruption.ts';
import type { Job } from '../../engine/record/job.ts';
import { cutToLength } from '../../text.ts';
import { findTask, type ReadTask, type TaskSource } from './find-task.ts';
import { type AskedTime, type OfferedEntry, offerBlocks, saidBlocks } from './offer-blocks.ts';

const SHOWN_LENGTH = 250;
const WHAT_WORKS = 'Give its id, or its whole name.';
/** For the records, which never have the note. */
const DAY_IN_NOTE = 'The note begins with what looks like a day. Write the day before the task';
const WHICH_DAY = 'The day is not certain. Write it before the task';
const MOST_OFFERED = 5;

/** @throws {NotDone} unless it is certain what is meant; in Slack with a button for each command that may be */
export async function whatToLog(asked: AskedTime, tasks: TaskSource): Promise<OfferedEntry> {
  const { time } = asked;
  // As part of a name, a day may be in the future.
  if (!time.open) dateOf(time.day, asked);
  const read = await findTask(time, tasks);
  const readingOf = ({ task, day, note, isNoteUnread }: ReadTask): OfferedEntry => ({
    task,
    note: isNoteUnread ? note && unquoted(note) : note,
    date: dateOf(day, asked),
  });
  if (!('fault' in read)) {
    if (time.unclear) throw askWhichDay([read], time.unclear, asked);
    if (read.isNoteUnread) refuseDay({ ...read, date: dateOf(read.day, asked) }, asked);
    const reading = readingOf(read);
    if (time.open) refuseDuration({ ...reading, note: read.note }, asked);
    return reading;
  }
  const { fault, said, offered } = read;
  if (offered.length === 0) throw new NotDone(`${fault}. ${WHAT_WORKS}`, saidBlocks(`${said}. ${WHAT_WORKS}`));
  if (time.unclear) throw askWhichDay(offered, time.unclear, asked);
  const isPublic = time.by.in === 'github';
  const list = offered.map(({ task: { id, name } }) =>
    isPublic ? id : `${id} (${cutToLength(name, SHOWN_LENGTH, '…')})`,
  );
  const text = `${fault}. Did you mean one of these? ${list.join(', ')}`;
  throw new NotDone(text, offerBlocks(said, offered.map(readingOf), asked));
}

/** Asks which of the days is meant by words such as `monday`, or whether they are part of the note. */
function askWhichDay(read: readonly ReadTask[], unclear: UnclearDay, asked: AskedTime): NotDone {
  const days = daysMeant(unclear.words, asked.languages, asked.today).map((day) => dateOf(day, asked));
  const dated = read.flatMap(({ task, note }) => days.map((date) => ({ task, note, date })));
  const kept = unclear.at === 'task' ? [] : read.slice(0, 1);
  const asNote = kept.map(({ task, note }) => ({
    task,
    note: noteWith(unclear, note),
    date: asked.today,
    isKept: true,
  }));
  const said = unclearDay(unclear.words, asked.languages);
  const readings = [...dated.slice(0, MOST_OFFERED), ...asNote];
  const text = `${WHICH_DAY}${days.length === 0 ? '' : `, such as ${days.join(' or ')}`}`;
  return new NotDone(
    text,
    readings.length === 0 ? saidBlocks(said) : offerBlocks(said, readings, asked, { areDated: true }),
  );
}

/** Asks about a note that begins with a day: `Login with passkeys yesterday: wrote tests`. */
function refuseDay({ task, date, note = '' }: OfferedEntry, asked: AskedTime): void {
  const day = readDay(note, asked.languages);
  if (day === undefined) return;
  if ('fault' in day) throw new NotDone(DAY_IN_NOTE, saidBlocks(day.fault));
  const others = 'words' in day ? day.others : day.rest;
  const words = note.slice(0, note.length - others.length).trim();
  const days = 'words' in day ? daysMeant(words, asked.languages, asked.today) : [day.day];
  const dated = days.map((day) => ({ task, date: dateOf(day, asked), note: others === '' ? undefined : others }));
  const readings = [...dated, { task, date, note, isKept: true }];
  throw new NotDone(DAY_IN_NOTE, offerBlocks(unclearDay(words, asked.languages), readings, asked, { areDated: true }));
}

/** Asks about a note that is a duration: `log 1h Login with passkeys 3h`. */
function refuseDuration({ task, date, note = '' }: OfferedEntry, asked: AskedTime): void {
  const second = parseDuration(note);
  if (!('minutes' in second)) return;
  const readings = [asked.time.minutes, second.minutes].map((minutes) => ({ task, date, note: undefined, minutes }));
  const said = `There is a second duration, ${excerpt(note)}. If it is the note, put it in quotation marks.`;
  throw new NotDone(
    `There are two durations, ${readings.map(({ minutes }) => printDuration(minutes)).join(' and ')}`,
    offerBlocks(said, readings, asked),
  );
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
  // A job that acts through an account is signed, and so is the time in it.
  return dateIn(timeZone, asked?.at ?? createdAt);
}
