import type { Day } from './command.ts';
import { excerpt, type Fault } from './fault.ts';
import { bareWord } from './words.ts';

const DATE = /^\d{4}-\d\d-\d\d$/;
const OTHER_DATE = /^(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4})$/;

/**
 * Reads a word as a day. How far off a date is, is not looked at: there is no clock here.
 *
 * @returns undefined for a word that is not about a day
 */
export function parseDay(word: string): { day: Day } | Fault | undefined {
  const day = bareWord(word).toLowerCase();
  if (day === 'today' || day === 'yesterday') return { day };
  if (day === 'tomorrow') return { fault: 'Time is logged once it is spent: today, yesterday or a date of the past.' };
  if (DATE.test(day)) {
    return isInCalendar(day) ? { day } : { fault: `There is no ${day} in the calendar.` };
  }
  if (OTHER_DATE.test(day)) {
    return {
      fault: `${excerpt(word)} is not a date such as 2026-11-18. A task of that name belongs in quotation marks.`,
    };
  }
  return undefined;
}

function isInCalendar(date: string): boolean {
  const time = Date.parse(date);
  // Some days that a month does not have are taken for days of the next.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date);
}
