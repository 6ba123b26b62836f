import ICAL from 'ical.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../dates.ts';
import { timeOf } from './zones.ts';

const MOST_OCCURRENCES = 20_000;
const [SECONDLY, MINUTELY, HOURLY, DAILY, WEEKLY] = [SECOND_MS, MINUTE_MS, HOUR_MS, DAY_MS, 7 * DAY_MS];
const PERIODS: Readonly<Record<string, number>> = { SECONDLY, MINUTELY, HOURLY, DAILY, WEEKLY };

/** A rule of repetition without its end. */
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
  // ICAL takes it as no number, and repeats without an end.
  if (recur.count === 0) throw new Error('COUNT is 0');
  return { until: parts.find(isUntil)?.slice('UNTIL='.length), recur };
}

/**
 * When clocks show that it repeats, from some time before `near` on.
 * @throws {Error} for what is repeated too often
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

/** A later beginning, from which the rule goes on in the same way: it does not count the years before. */
function nearer(recur: ICAL.Recur, begin: number, near: number): number | undefined {
  const { freq, interval, count } = recur;
  const { BYDAY: days, ...others } = recur.parts as Record<string, unknown[]>;
  const begun = new Date(begin);
  if (freq === 'MONTHLY' || freq === 'YEARLY') {
    // Not each month has the last days, but each of the same name in four years does.
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
