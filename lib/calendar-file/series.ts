import { DAY_MS, dateIn } from '../dates.ts';
import type { Period, ReadEvent } from './read-event.ts';
import { readRule, repetitions } from './rule.ts';
import { isSpan, readTime, type Span, type Time } from './times.ts';
import type { Zone } from './zones.ts';

/** More than zones can differ from each other, and more than a clock change moves. */
const SLACK_MS = 2 * DAY_MS;

/** The wanted days in order, and the zone for times without a zone. */
export interface Wanted {
  days: readonly { date: string; midnight: number; moment: number }[];
  timeZone: string;
  zone: Zone;
}

interface Occurrence {
  /** The local time in the zone of its series. */
  local: number;
  /** The position on the axis of its series. */
  at: number;
  lasts: Span;
}

/**
 * Returns the wanted days on which the events of one UID take place, by event. All times are compared on the axis of
 * DTSTART: midnights for dates, moments for times.
 *
 * @param leftOut is called for each rule that cannot be read
 */
export function datesOf(
  events: readonly ReadEvent[],
  { days, timeZone, zone }: Wanted,
  leftOut: (what: string) => void,
) {
  const found = new Map<ReadEvent, Set<string>>();
  const inOrder = events.toSorted((a, b) => a.sequence - b.sequence || (a.stamp < b.stamp ? -1 : 1));
  const whole = inOrder.filter(({ replaces }) => !replaces);
  const series = whole.filter(({ sequence }) => sequence === whole.at(-1)?.sequence);
  if (series.length > 0 && series.every(({ isCancelled }) => isCancelled)) return found;

  const reach = SLACK_MS + inOrder.reduce((furthest, event) => Math.max(furthest, reachOf(event)), 0);
  const [first, last] = [(days[0]?.midnight ?? 0) - reach, (days.at(-1)?.midnight ?? 0) + reach];
  const isNear = ({ local }: Time) => first <= local && local <= last;
  const axis = series[0]?.start ?? inOrder[0]?.start;
  const changes = new Map<number | string, ReadEvent>();
  for (const one of inOrder) if (one.replaces) changes.set(keyOf(one.replaces, axis), one);
  const ranges = [...changes.values()]
    .flatMap((event) => (event.isRange && event.replaces ? [{ event, from: place(event.replaces, axis) }] : []))
    .sort((a, b) => a.from - b.from);

  for (const event of changes.values()) if (event.start && isNear(event.start)) note(event, begin(event.start));
  for (const event of series) {
    const { start, except } = event;
    if (!start) continue;
    const excluded = new Set(except.filter(isNear).map((time) => keyOf(time, start)));
    for (const { at } of repeated(event, start, 'EXRULE')) excluded.add(at);
    for (const one of [begin(start), ...repeated(event, start, 'RRULE'), ...added(event, start)]) {
      if ([one.at, dateText(one.local)].some((key) => excluded.has(key) || changes.has(key))) continue;
      const range = ranges.findLast(({ from }) => from <= one.at);
      const then = range?.event.start;
      if (!range) note(event, one);
      else if (then) {
        const moved = place(then) - range.from;
        note(range.event, { ...begin(then), local: one.local + moved, at: one.at + moved }, start);
      }
    }
  }
  return found;

  function note(event: ReadEvent, { local, at, lasts }: Occurrence, of = event.start): void {
    if (!of || event.isCancelled) return;
    const { isDate, zone: named = zone } = of;
    const wholeDays = lasts.days + Math.ceil(lasts.ms / DAY_MS);
    const end = isDate ? at + Math.max(1, wholeDays) * DAY_MS : named(local + lasts.days * DAY_MS) + lasts.ms;
    for (const { date, midnight, moment } of days) {
      const when = isDate ? midnight : moment;
      if (at <= when && when < end) found.set(event, (found.get(event) ?? new Set()).add(date));
    }
  }

  /** Returns the occurrence with which an event begins, or that it adds. */
  function begin(period: Period, of = period): Occurrence {
    const at = place(period, of);
    const { zone: named = zone, end = { days: 0, ms: 0 } } = period;
    const isOfAxis = !of.isDate && named === (of.zone ?? zone);
    const local = of.isDate ? at : isOfAxis ? period.local : 2 * at - (of.zone ?? zone)(at);
    return { local, at, lasts: isSpan(end) ? end : { days: 0, ms: place(end, of) - at } };
  }

  function* added({ also }: ReadEvent, start: Period): Generator<Occurrence> {
    for (const one of also.filter(isNear)) {
      // An added date in a series with times gets the series' time of day.
      const isBare = one.isDate && !start.isDate;
      const period = isBare ? { ...start, local: one.local + (start.local % DAY_MS), end: undefined } : one;
      yield { ...begin(period, start), ...(period.end === undefined && { lasts: begin(start).lasts }) };
    }
  }

  function* repeated({ component }: ReadEvent, start: Period, name: 'RRULE' | 'EXRULE'): Generator<Occurrence> {
    const { lasts, local: from } = begin(start);
    const zoneOfStart = start.zone ?? zone;
    for (const { value } of component.properties.get(name) ?? []) {
      try {
        const rule = readRule(value);
        const until = rule.until === undefined ? Infinity : untilOf(rule.until, start);
        for (const local of repetitions(rule, from, start.isDate, first)) {
          if (local > last) break;
          const at = start.isDate ? local : zoneOfStart(local);
          if (at > until) break;
          if (local >= first) yield { local, at, lasts };
        }
      } catch {
        leftOut(`${component.title}: its ${name} cannot be read, or repeats it too often`);
      }
    }
  }

  /** @throws {Error} if the text is not a date or time */
  function untilOf(text: string, start: Period): number {
    const until = readTime(text, undefined);
    if (!until) throw new Error('UNTIL is not a date or time');
    const isBare = until.isDate && !start.isDate;
    return place(isBare ? { ...until, local: until.local + DAY_MS - 1 } : until, start);
  }

  function keyOf(time: Time, of: Period | undefined): number | string {
    return time.isDate && of?.isDate === false ? dateText(time.local) : place(time, of);
  }

  /** Converts a time to its position on the axis of another time. */
  function place(time: Time, of: Time = time): number {
    const { local, isUtc } = time;
    if (!of.isDate) return (time.zone ?? of.zone ?? zone)(local);
    // Some programs write a date's midnight in UTC, and others write the date as if it were in UTC.
    return isUtc && local % DAY_MS !== 0 ? Date.parse(dateIn(timeZone, local)) : Math.floor(local / DAY_MS) * DAY_MS;
  }
}

const dateText = (local: number) => new Date(local).toISOString().slice(0, 10);

/** How far an event may last, or move others, from its own beginning, apart from zones. */
function reachOf({ start, replaces, isRange, also }: ReadEvent): number {
  const lengthOf = ({ local, end }: Period) =>
    end === undefined ? 0 : isSpan(end) ? end.days * DAY_MS + end.ms : end.local - local;
  const moves = isRange && start && replaces ? Math.abs(start.local - replaces.local) : 0;
  return moves + [...(start ? [start] : []), ...also].reduce((longest, one) => Math.max(longest, lengthOf(one)), 0);
}
