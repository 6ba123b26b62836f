import * as z from 'zod';

/** The parts of a time entry that reminders need. */
interface TimeEntry {
  userId: string;
  /** `YYYY-MM-DD` */
  date: string;
  minutes: number;
  taskId?: string;
  taskName?: string;
}

/**
 * An entry that cannot be read reliably. The reason names the field and the expected format. It quotes nothing of the
 * entry, because with a wrong override, any field may contain a note.
 */
interface UnreadableEntry {
  unreadable: string;
  /** Set if the day can be read. */
  date?: string;
}

const DAY_MINUTES = 24 * 60;
const isoDate = z.iso.date();

/**
 * Reads a record of `timelogs/list`. Its fields are not shown. Assumed: `user_id`, `date`, `hours` or `minutes`,
 * `task_id` and `task_name`. An instance with other names needs an override, which is applied before this.
 */
export function readEntry(record: Readonly<Record<string, unknown>>): TimeEntry | UnreadableEntry {
  const userId = textOf(record.user_id);
  if (userId === undefined) return { unreadable: 'user_id: expected the id of a user' };
  const date = dateOf(record.date);
  if (date === undefined) return { unreadable: 'date: expected a date such as 2026-11-20' };
  const minutes = loggedMinutes(record);
  if (typeof minutes !== 'number') return { ...minutes, date };
  const taskId = textOf(record.task_id);
  const taskName = textOf(record.task_name);
  return {
    userId,
    date,
    minutes,
    taskId,
    taskName,
  };
}

function loggedMinutes({ hours, minutes }: Readonly<Record<string, unknown>>): number | UnreadableEntry {
  const fromHours = minutesOf(hours, 'hours');
  const fromMinutes = minutesOf(minutes, 'minutes');
  const hasMinutes = minutes !== undefined && minutes !== null;
  const hasHours = hours !== undefined && hours !== null;
  if (fromHours === undefined && (hasHours || !hasMinutes)) {
    return { unreadable: 'hours: expected hours such as 1.5, "1,50" or "1:30", no more than 24' };
  }
  if (fromMinutes === undefined && hasMinutes) {
    return { unreadable: 'minutes: expected minutes such as 90, no more than 1440' };
  }
  if (fromHours === undefined || fromMinutes === undefined) return fromHours ?? fromMinutes ?? 0;
  if (!isSameDuration(fromHours, fromMinutes)) return { unreadable: 'minutes: expected the same duration as in hours' };
  // Hours may be rounded, in the worst case to one decimal.
  return fromMinutes;
}

/**
 * Reads a duration from the service in whole minutes: a number (1.5), a decimal string ("1.50", "1,5"), and for hours
 * also `H:MM` and `H:MM:SS`. The service's format is not shown. Hours with two decimals are off by up to 18 seconds;
 * rounding to the minute restores the logged time.
 *
 * @returns undefined for any other format, for a negative duration, and for more than a day
 */
export function minutesOf(value: unknown, unit: 'hours' | 'minutes'): number | undefined {
  const minutes = (unit === 'hours' ? clockMinutes(value) : undefined) ?? decimal(value) * (unit === 'hours' ? 60 : 1);
  return minutes >= 0 && minutes <= DAY_MINUTES ? Math.round(minutes) : undefined;
}

function clockMinutes(value: unknown): number | undefined {
  const match = typeof value === 'string' && /^(\d{1,2}):([0-5]\d)(?::([0-5]\d))?$/.exec(value.trim());
  if (!match) return undefined;
  const [, hours, minutes, seconds = 0] = match;
  return Number(hours) * 60 + Number(minutes) + Number(seconds) / 60;
}

/** Returns NaN if it is not a number. */
function decimal(value: unknown): number {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || !/^\d+([.,]\d+)?$/.test(value.trim())) return Number.NaN;
  return Number(value.trim().replace(',', '.'));
}

/**
 * Returns true if two fields have the same duration. Hours with one decimal are up to three minutes off. Whole hours
 * with minutes below 60 could also be two parts, `1` and `58` for 1 h 58 min. The relay cannot know, so they must be
 * equal.
 */
function isSameDuration(fromHours: number, minutes: number): boolean {
  if (fromHours === minutes) return true;
  const mayBeParts = fromHours % 60 === 0 && minutes < 60;
  return !mayBeParts && Math.abs(fromHours - minutes) <= ROUNDED_MINUTES;
}

/** The rounding error of a service that keeps one decimal of an hour. */
export const ROUNDED_MINUTES = 3;

/** Returns an id as text. Its type is not shown, so texts and numbers are accepted. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/**
 * Returns the day as written, with or without a time behind it: `YYYY-MM-DD HH:MM:SS` as in
 * docs/partner-api.md#project, or ISO 8601. Times are not converted to another zone, because the service's own zone is
 * not shown.
 */
export function dateOf(value: unknown): string | undefined {
  const date = typeof value === 'string' && /^(\d{4}-\d\d-\d\d)(?:$|[ T]\d\d:\d\d)/.exec(value.trim())?.[1];
  return date && isoDate.safeParse(date).success ? date : undefined;
}
