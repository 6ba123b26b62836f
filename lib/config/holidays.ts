import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { allDayDates } from './all-day-dates.ts';

export interface HolidayRange {
  /** Its date in UTC is the first that is taken; by default the first of January of last year. */
  from?: Date;
  /** How many years are taken, for events that come back every year have no end. */
  years?: number;
}

/**
 * The holidays in an iCalendar file, for `relay.config.ts`:
 * `holidays: [...holidaysFromIcs('holidays/berlin.ics'), '2026-12-24']`. These are the days of all events that last
 * whole days, recurring ones included. The file is read where the configuration is loaded, and never in a Lambda.
 *
 * @param file a path relative to the working directory, or a `file:` URL
 * @returns dates as `YYYY-MM-DD`, in order, each once
 * @throws {Error} that names the file, where it cannot be read, is not iCalendar, or has no such day in the range
 */
export function holidaysFromIcs(file: string | URL, { from = lastNewYear(), years = 5 }: HolidayRange = {}): string[] {
  const first = from.toISOString().slice(0, 10);
  const end = `${Number(first.slice(0, 4)) + years}${first.slice(4)}`;
  const dates = readDates(file, first, end);
  // Most likely the calendar has ended, and everybody would be reminded on holidays.
  if (dates.length === 0) throw new Error(`${file} has no all-day event from ${first} on and before ${end}`);
  return [...new Set(dates)].sort();
}

function readDates(file: string | URL, first: string, end: string): string[] {
  try {
    // The whole path, for the reason says it, and not everybody knows what the working directory is.
    return allDayDates(readFileSync(typeof file === 'string' ? resolve(file) : file, 'utf8'), first, end);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : cause;
    throw new Error(`${file} cannot be read as an iCalendar file: ${reason}`, { cause });
  }
}

/** A whole year, so that a stack that is made again tomorrow is the same; last year's, for the week over New Year. */
function lastNewYear(): Date {
  return new Date(Date.UTC(new Date().getUTCFullYear() - 1, 0));
}
