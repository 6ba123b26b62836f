/**
 * A date here is `YYYY-MM-DD`, a calendar day without a time zone. Such dates sort as text. ECMAScript reads them as
 * midnight UTC (ECMA-262, Date Time String Format), so the machine's time zone does not matter.
 */
export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

type Weekday = (typeof WEEKDAYS)[number];

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
/** The length of a UTC day, and therefore of every day in this file. */
export const DAY_MS = 24 * HOUR_MS;

export function addDays(date: string, days: number): string {
  return new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10);
}

export function weekdayOf(date: string): Weekday {
  return WEEKDAYS[daysSinceMonday(date)] as Weekday;
}

/** Returns the Monday of the date's week (ISO 8601). */
export function mondayOf(date: string): string {
  return addDays(date, -daysSinceMonday(date));
}

/** Returns all dates from the first to the last, inclusive. */
export function datesBetween(first: string, last: string): string[] {
  const dates = [];
  for (let date = first; date <= last; date = addDays(date, 1)) dates.push(date);
  return dates;
}

function daysSinceMonday(date: string): number {
  return (new Date(date).getUTCDay() + 6) % 7;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Cached, because making a format takes far longer than using it, and each line of a job's story has a time. */
function formatOf(locale: string, options: Intl.DateTimeFormatOptions = {}): Intl.DateTimeFormat {
  const name = `${locale} ${Object.entries(options)}`;
  const format = formats.get(name) ?? new Intl.DateTimeFormat(locale, options);
  formats.set(name, format);
  return format;
}

/** Returns the date in a time zone. */
export function dateIn(timeZone: string, ms: number): string {
  // Swedish writes dates as ISO 8601 does.
  return formatOf('sv-SE', { timeZone }).format(ms);
}

/** Returns the date in this machine's time zone. */
export function localDate(ms: number): string {
  return formatOf('sv-SE').format(ms);
}

/** Returns a time for people, in this machine's time zone and with its name: `2026-11-22 06:10:03 CET` */
export function localTime(ms: number): string {
  const parts = formatOf('sv-SE', { dateStyle: 'short', timeStyle: 'medium' }).format(ms);
  return `${parts} ${zoneAt(ms)}`;
}

/** Returns the time of day in this machine's time zone, `06:10:03`. */
export function localClock(ms: number): string {
  return formatOf('sv-SE', { timeStyle: 'medium' }).format(ms);
}

/** Returns the name of this machine's time zone at that time, `CET` or `GMT+5:30`. */
export function zoneAt(ms: number): string {
  const parts = formatOf('en-GB', { timeZoneName: 'short' }).formatToParts(ms);
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'UTC';
}

/**
 * Returns a duration for people, in its two largest units: `< 1 ms`, `280 ms`, `10.3 s`, `4 min 10 s`, `2 h 3 min`, `3 d 4 h`.
 */
export function elapsed(ms: number): string {
  if (ms < SECOND_MS) return ms < 1 ? '< 1 ms' : `${Math.round(ms)} ms`;
  if (ms < MINUTE_MS) return `${Number((ms / SECOND_MS).toFixed(1))} s`;
  const large = ms < HOUR_MS ? MINUTE_MS : ms < DAY_MS ? HOUR_MS : DAY_MS;
  const small = large === DAY_MS ? HOUR_MS : large / 60;
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${UNITS[large]}${rest === 0 ? '' : ` ${rest} ${UNITS[small]}`}`;
}

const UNITS: Readonly<Record<number, string>> = { [SECOND_MS]: 's', [MINUTE_MS]: 'min', [HOUR_MS]: 'h', [DAY_MS]: 'd' };
