import { runInNewContext } from 'node:vm';
import { type Component, eventsOf, type Property } from './calendar-file/components.ts';
import { createEventReader, type ReadEvent } from './calendar-file/read-event.ts';
import { datesOf } from './calendar-file/series.ts';
import { utc } from './calendar-file/times.ts';
import { ianaZone } from './calendar-file/zones.ts';
import { datesBetween } from './dates.ts';
import { counted } from './text.ts';

/** An event of an iCalendar file that takes place on some of the wanted days (RFC 5545). */
interface CalendarEvent {
  summary: string;
  /** In lowercase: the people who take part and have not declined, or else the organizer. */
  addresses: string[];
  /** The wanted days on which the event takes place. */
  dates: string[];
}

interface WantedDates {
  /** `YYYY-MM-DD`, inclusive. */
  from: string;
  to: string;
  /** The time zone of `at`, and of times in the file without one. */
  timeZone: string;
  /** An event with times counts on the days on which it covers this time: `16:30`. */
  at: string;
}

/** The time limits for a file, because its rules may never match. */
const LONGEST_MS = 2_000;
const LONGEST_SERIES_MS = 1_000;

/**
 * Reads the events of an iCalendar file, with their repetitions. An unreadable event does not affect the others.
 *
 * @param leftOut gets a description of each part of the file that cannot be understood
 * @throws {Error} for a file that is not iCalendar
 */
export function eventsIn(
  file: string,
  wanted: WantedDates,
  leftOut: (what: string) => void = () => {},
): CalendarEvent[] {
  const { from, to, timeZone, at } = wanted;
  const zone = ianaZone(timeZone) ?? utc;
  const days = datesBetween(from, to).map((date) => {
    return { date, midnight: Date.parse(date), moment: zone(Date.parse(`${date}T${at}Z`)) };
  });
  const readEvent = createEventReader(leftOut);
  const read = eventsOf(file, leftOut).map(readEvent);
  // Repeated events come last, because they take time.
  const series = [...Map.groupBy(read, ({ uid }) => uid).values()].sort(
    (a, b) => Number(hasRule(a)) - Number(hasRule(b)),
  );

  const found: CalendarEvent[] = [];
  const end = performance.now() + LONGEST_MS;
  let next = 0;
  /** Reads several series at a time, because starting a context takes as long as reading many of them. */
  function readSome(): void {
    const pause = performance.now() + LONGEST_SERIES_MS / 2;
    for (; next < series.length && performance.now() < pause; next++) {
      for (const [{ component }, dates] of datesOf(series[next] ?? [], { days, timeZone, zone }, leftOut)) {
        found.push({ summary: summaryOf(component), addresses: addressesOf(component), dates: [...dates].sort() });
      }
    }
  }
  while (next < series.length) {
    if (performance.now() > end) {
      leftOut(`${counted(series.length - next, 'event')}: the file takes too long to read`);
      break;
    }
    try {
      runInNewContext('read()', { read: readSome }, { timeout: LONGEST_SERIES_MS });
    } catch {
      leftOut(`${series[next]?.[0]?.component.title}: it takes too long to read`);
      next++;
    }
  }
  return found;
}

const hasRule = (events: readonly ReadEvent[]) => events.some(({ component }) => component.properties.has('RRULE'));

function summaryOf({ properties }: Component): string {
  const written = properties.get('SUMMARY')?.[0]?.value ?? '';
  return written.replaceAll(/\\([n,;\\])/gi, (_, escaped: string) => (/n/i.test(escaped) ? '\n' : escaped));
}

function addressesOf({ properties }: Component): string[] {
  const addressOf = ({ value }: Property) =>
    value
      .trim()
      .replace(/^mailto:/i, '')
      .toLowerCase();
  const attendees = properties.get('ATTENDEE');
  if (!attendees) return (properties.get('ORGANIZER') ?? []).map(addressOf);
  return attendees.filter(({ parameters }) => !/;PARTSTAT="?DECLINED/i.test(parameters)).map(addressOf);
}
