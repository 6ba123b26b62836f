import ICAL from 'ical.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../dates.ts';
import { timeOf } from './zones.ts';

const MOST_OCCURRENCES = 20_000;
const [SECONDLY, MINUTELY, HOURLY, DAILY, WEEKLY] = [SECOND_MS, MINUTE_MS, HOUR_MS, DAY_MS, 7 * DAY_MS];
const PERIODS: Readonly<Record<string, number>> = { SECONDLY, MINUTELY, HOURLY, DAILY, WEEKLY };

/** A recurrence rule without its end. */
export interface Rule {
  until: string | undefined;
  recur: ICAL.Recur;
}

/** @throws {Error} for an invalid rule */
export function readRule(text: string): Rule {
  const parts = text
    .trim()
    .toUpperCase()
    .split(';')
    .filter((part) => part !== '');
  const isUntil = (part: string) => /^UNTIL=/i.test(part);
  const recur = ICAL.Recur.fromString(parts.filter((part) => !isUntil(part)).join(';'));
  // ICAL ignores a count of 0, and would repeat without end.
  if (recur.count === 0) throw new Error('COUNT is 0');
  return { until: parts.find(isUntil)?.slice('UNTIL='.length), recur };
}

/**
 * Yields the local times of the repetitions, from some time before `near` on.
 * @throws {Error} if it is repeated too often
 */
export function* repetitions({ recur }: Rule, begin: number, isDate: boolean, near: number): Generator<number> {
  const from = nearer(recur, begin, near);
  if (from === undefined) return;
  const times = recur.iterator(timeOf(from, isDate));
  for (let count = 0; count < MOST_OCCURRENCES; count++) {
    const time = times.next();
    if (!time) return;
    yield Date.UTC(time.year, time.month - 1, time.day, time.hour, time.minute, time.second);
  }
  throw new Error('is repeated too often');
}

/** Returns a later beginning with the same repetitions, so that the years before need not be counted. */
function nearer(recur: ICAL.Recur, begin: number, near: number): number | undefined {
  const { freq, interval, count } = recur;
  const { BYDAY: days, ...others } = recur.parts as Record<string, unknown[]>;
  const begun = new Date(begin);
  if (freq === 'MONTHLY' || freq === 'YEARLY') {
    // Not every month has days 29 to 31, but the month four years later has the same ones.
    const months = interval * (freq === 'YEARLY' ? 12 : 1) * (begun.getUTCDate() > 28 ? 48 : 1);
    const until = new Date(near);
    const passed = (until.getUTCFullYear() - begun.getUTCFullYear()) * 12 + until.getUTCMonth() - begun.getUTCMonth();
    return count
      ? begin
      : begun.setUTCMonth(begun.getUTCMonth() + Math.max(0, Math.floor((passed - 1) / months)) * months);
  }
  const isDaily = freq === 'DAILY' && days !== undefined;
  const period = (PERIODS[freq] ?? Infinity) * interval * (isDaily ? 7 : 1);
  const passed = Math.max(0, Math.floor((near - begin) / period));
  if (count) {
    if (Object.keys(others).length > 0 || (days && (isDaily ? interval % 7 === 0 : freq !== 'WEEKLY'))) return begin;
    recur.count = count - passed * new Set(days ?? ['each']).size;
    if (recur.count <= 0) return undefined;
  }
  return passed === 0 ? begin : begin + passed * period;
}
