import type { Property } from './components.ts';
import type { Zone } from './zones.ts';

/** A time or date as written. */
export interface Time {
  /** The local time, as milliseconds that would show it in UTC. */
  local: number;
  isDate: boolean;
  isUtc: boolean;
  /** The named zone; undefined to use the reader's zone. */
  zone: Zone | undefined;
}

/** A duration: calendar days, plus milliseconds. */
export interface Span {
  days: number;
  ms: number;
}

export const isSpan = (end: Time | Span): end is Span => 'days' in end;

const TIME = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)?(Z?))?$/i;
const DURATION = /^\+?P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/i;
export const utc: Zone = (local) => local;

/**
 * Returns the texts of a property with times, and the named zone. A zone's name may contain a colon, but a time may
 * not.
 */
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

/**
 * Reads a time or date; undefined for any other text. A date without a time stays a date, whatever its property says.
 */
export function readTime(text: string, zone: Zone | undefined, isSaidToBeDate = false): Time | undefined {
  const [, year, month, day, hour, minute = 0, second = 0, z] = TIME.exec(text) ?? [];
  const date = Date.UTC(Number(year), Number(month) - 1, Number(day));
  if (new Date(date).getUTCDate() !== Number(day)) return undefined;
  if (hour === undefined || isSaidToBeDate) return { local: date, isDate: true, isUtc: false, zone: undefined };
  const local = date + (Number(hour) * 3_600 + Number(minute) * 60 + Number(second)) * 1_000;
  return { local, isDate: false, isUtc: z !== '', zone: z === '' ? zone : utc };
}

/** Reads a duration; undefined for a negative duration and any other text. */
export function readDuration(text: string): Span | undefined {
  const found = DURATION.exec(text);
  if (!found) return undefined;
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = found.slice(1).map((part) => Number(part ?? 0));
  return { days: weeks * 7 + days, ms: (hours * 3_600 + minutes * 60 + seconds) * 1_000 };
}
