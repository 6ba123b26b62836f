import { type Day, readDay } from '../../commands/day.ts';
import { daysMeant } from '../../commands/days-meant.ts';
import { excerpt } from '../../commands/fault.ts';
import { addDays } from '../../dates.ts';
import { NotDone } from '../../engine/record/interruption.ts';
import { cutToLength } from '../../text.ts';
import { findTask, type TaskSource } from './find-task.ts';
import { type AskedTime, offerBlocks, type Reading } from './offer-blocks.ts';

const SHOWN_LENGTH = 250;

/** @throws {NotDone} unless it is certain what is meant; in Slack with a button for each command that may be */
export async function whatToLog(asked: AskedTime, tasks: TaskSource): Promise<Reading> {
  const { time } = asked;
  const date = dateOf(time.day, asked);
  const read = await findTask(time, tasks);
  if (!('fault' in read)) {
    // Behind a name of several words, nobody has looked for a day yet.
    if (read.note !== time.note) refuseDay({ ...read, date }, asked);
    return { ...read, date };
  }
  const { fault, offered } = read;
  if (offered.length === 0) throw new NotDone(`${fault}. Give its id, or its whole name.`);
  const isPublic = time.by.in === 'github';
  const list = offered.map(({ task: { id, name } }) =>
    isPublic ? id : `${id} (${cutToLength(name, SHOWN_LENGTH, '…')})`,
  );
  const text = `${fault}. Did you mean one of these? ${list.join(', ')}`;
  const readings = offered.map((one) => ({ ...one, date }));
  throw new NotDone(text, offerBlocks(fault, readings, asked));
}

/** Asks about a note that begins with a day: `Login with passkeys yesterday: wrote tests`. */
function refuseDay(reading: Reading, asked: AskedTime): void {
  const { note = '' } = reading;
  const day = readDay(note, asked.languages);
  if (day === undefined) return;
  if ('fault' in day) throw new NotDone(day.fault);
  const others = 'words' in day ? day.others : day.rest;
  const words = note.slice(0, note.length - others.length).trim();
  const days = 'words' in day ? daysMeant(words, asked.languages) : [day.day];
  const fault = `${excerpt(words)} looks like a day. Write it before the task, as today, yesterday or a date such as 2026-11-18`;
  const dated = days.map((day) => ({ ...reading, date: dateOf(day, asked), note: others === '' ? undefined : others }));
  throw new NotDone(fault, offerBlocks(fault, [...dated, reading], asked));
}

/** The date in the person's time zone when they asked. */
function dateOf(day: Day, { job, timeZone }: AskedTime): string {
  // A job that acts through an account is signed, and so is this time.
  const askedAt = job.asked?.at ?? job.createdAt;
  // Swedish writes dates as ISO 8601 does.
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone }).format(askedAt);
  if (day === 'today') return today;
  if (day === 'yesterday') return addDays(today, -1);
  if (day > today) throw new NotDone(`${day} is in the future: you can log time for today or a past day`);
  return day;
}
