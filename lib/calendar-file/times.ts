import type { Property } from './components.ts';
import type { Zone } from './zones.ts';

/** A time or a date as it is written. */
export interface Time {
  /** What the clock shows, as milliseconds in which it would be UTC. */
  local: number;
  isDate: boolean;
  isUtc: boolean;
  /** The zone that it names; undefined if the reader's zone counts. */
  zone: Zone | undefined;
}

/** How long something lasts: days of the calendar, and milliseconds beside them. */
export interface Span {
  days: number;
  ms: number;
}

export const isSpan = (end: Time | Span): end is Span => 'days' in end;

const TIME = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)?(Z?))?$/i;
const DURATION = /^\+?P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/i;
export const utc: Zone = (local) => local;

/** The texts of a property of times, and the zone that it names. A name may have a colon, a time has none. */
export function writtenTimes({ parameters, value }: Property): { texts: string[]; zone: string; isDate: boolean } {
  const whole = `${parameters}:${value.split('\n', 1)[0]}`;
  const end = whole.lastIndexOf(':');
  const [, zone = ''] = /;\s*TZID=("[^"]*|[^;]*)/i.exec(whole.slice(0, end)) ?? [];
  const texts = whole
    .slice(end + 1)
    .split(',')
    .map((text) => text.trim());
  return { texts, zone: zone.replaceAll('"', '').trim(), isDate: /;\s*VALUE="?DATE"?(;|$)/i.test(whole.slice(0, end)) };
}

/** The time or the date; undefined for any other text. A bare date is a date, whatever its property says. */
export function readTime(text: string, zone: Zone | undefined, isSaidToBeDate = false): Time | undefined {
  const [, year, month, day, hour, minute = 0, second = 0, z] = TIME.exec(text) ?? [];
  const date = Date.UTC(Number(year), Number(month) - 1, Number(day));
  if (new Date(date).getUTCDate() !== Number(day)) return undefined;
  if (hour === undefined || isSaidToBeDate) return { local: date, isDate: true, isUtc: false, zone: undefined };
  const local = date + (Number(hour) * 3_600 + Number(minute) * 60 + Number(second)) * 1_000;
  return { local, isDate: false, isUtc: z !== '', zone: z === '' ? zone : utc };
}

/** The duration; undefined for any other text, and for a negative duration. */
export function readDuration(text: string): Span | undefined {
  const found = DURATION.exec(text);
  if (!found) return undefined;
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = found.slice(1).map((part) => Number(part ?? 0));
  return { days: weeks * 7 + days, ms: (hours * 3_600 + minutes * 60 + seconds) * 1_000 };
}
