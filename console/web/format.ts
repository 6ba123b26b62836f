import type { Count } from '../contract.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `< 1 ms`, `39 ms`, `1.2 s`, `4 min 5 s`, `2 h 10 min`, `3 d 4 h` */
export function duration(ms: number): string {
  if (ms < 1000) return ms < 1 ? '< 1 ms' : `${Math.round(ms)} ms`;
  if (ms < 10 * SECOND) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return twoUnits(ms, MINUTE, 'min', SECOND, 's');
  if (ms < DAY) return twoUnits(ms, HOUR, 'h', MINUTE, 'min');
  return twoUnits(ms, DAY, 'd', HOUR, 'h');
}

function twoUnits(ms: number, large: number, name: string, small: number, smallName: string): string {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${name}${rest > 0 ? ` ${rest} ${smallName}` : ''}`;
}

/** `5 s ago`, `in 12 min`, `in 1 h 59 min`: for a time that has passed, only the largest unit. */
export function relative(at: number, now: number): string {
  const away = Math.abs(at - now);
  if (away < SECOND) return 'now';
  const text =
    away < MINUTE
      ? `${Math.floor(away / SECOND)} s`
      : away < HOUR
        ? `${Math.floor(away / MINUTE)} min`
        : away < DAY
          ? `${Math.floor(away / HOUR)} h`
          : `${Math.floor(away / DAY)} d`;
  if (at < now) return `${text} ago`;
  return `in ${away < HOUR ? text : duration(away)}`;
}

const withHour = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const withDay = { day: 'numeric', month: 'short' } as const;
const timeFormat = new Intl.DateTimeFormat('en-GB', { ...withHour, second: '2-digit' });
const roughFormat = new Intl.DateTimeFormat('en-GB', withHour);
const dayFormat = new Intl.DateTimeFormat('en-GB', { ...withDay, ...withHour });
const yearFormat = new Intl.DateTimeFormat('en-GB', { ...withDay, ...withHour, year: 'numeric' });
const exactFormat = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  ...withDay,
  year: 'numeric',
  ...withHour,
  second: '2-digit',
  fractionalSecondDigits: 3,
  timeZoneName: 'short',
});
export const { timeZone } = exactFormat.resolvedOptions();

/** The local time: `14:05:09` today, `21 Nov, 14:05` on other days, with the year if it is another one. */
export function localTime(at: number, now: number): string {
  const day = new Date(at);
  const today = new Date(now);
  if (day.toDateString() === today.toDateString()) return timeFormat.format(day);
  return (day.getFullYear() === today.getFullYear() ? dayFormat : yearFormat).format(day);
}

/** The local time without seconds, for a distant time. */
export function roughTime(at: number, now: number): string {
  const isToday = new Date(at).toDateString() === new Date(now).toDateString();
  return isToday && Math.abs(at - now) >= 10 * MINUTE ? roughFormat.format(at) : localTime(at, now);
}

/** `14:05` on any day. */
export const hourAndMinute = (at: number) => roughFormat.format(at);

/** Converts times that the server wrote into a text to the reader's zone. */
export function withLocalTimes(text: string, now: number): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, (iso) => localTime(Date.parse(iso), now));
}

/** `Sat, 22 Nov 2026, 14:05:09.120 CET (Europe/Berlin)` */
export function exactTime(at: number): string {
  return `${exactFormat.format(at)} (${timeZone})`;
}

const numberFormat = new Intl.NumberFormat('en-GB');

/** `5,000` */
export function count(value: number): string {
  return numberFormat.format(value);
}

/** `2`, `1,000+` */
export const many = ({ jobs, more }: Count): string => `${count(jobs)}${more ? '+' : ''}`;

/** `1 job`, `2 jobs` */
export const jobs = (value: number): string => `${count(value)} ${value === 1 ? 'job' : 'jobs'}`;

/** `1 job waits for this`, `1,000+ jobs wait for this` */
export const waitingJobs = (of: Count): string => `${many(of)} ${of.jobs === 1 ? 'job waits' : 'jobs wait'} for this`;

/** A message as a sentence. */
export const sentence = (text: string): string =>
  text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? '' : '.');
