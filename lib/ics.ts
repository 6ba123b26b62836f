import { runInNewContext } from 'node:vm';
import ICAL from 'ical.js';
import { Temporal } from 'temporal-polyfill';
import { datesBetween } from './dates.ts';

/** An event of an iCalendar file that takes place on some of the wanted days (RFC 5545). */
interface CalendarEvent {
  summary: string;
  /** Those who take part and have not declined, otherwise the organizer; in lowercase. */
  addresses: string[];
  /** The wanted days on which it takes place. */
  dates: string[];
}

interface WantedDates {
  /** `YYYY-MM-DD`, both included. */
  from: string;
  to: string;
  /** The zone of `at`, and of times in the file that name none. */
  timeZone: string;
  /** An event with times counts on the days on which it lasts at this time: `16:30`. */
  at: string;
}

/** The limit for everything that a file makes the library do: rules may repeat without an end, or never match. */
const LONGEST_MS = 2_000;
const MOST_OCCURRENCES = 20_000;
const ZONES = new Set(Intl.supportedValuesOf('timeZone'));

/**
 * Reads the events of an iCalendar file, with their repetitions.
 * @throws {Error} for a file that is not iCalendar, or that takes too long
 */
export function eventsIn(file: string, wanted: WantedDates): CalendarEvent[] {
  return runInNewContext('read()', { read: () => read(file, wanted) }, { timeout: LONGEST_MS }) as CalendarEvent[];
}

function read(file: string, { from, to, timeZone, at }: WantedDates): CalendarEvent[] {
  const days = datesBetween(from, to).map((date) => ({ date, ms: momentOf(`${date}T${at}`, timeZone) }));
  const end = momentOf(`${to}T23:59:59`, timeZone);
  const all = new ICAL.Component(ICAL.parse(file)).getAllSubcomponents('vevent');
  // An occurrence that was changed is an event of its own.
  const changed = new Set(all.map((one) => changedKey(one)).filter((key) => key !== undefined));
  return all.flatMap((component) => {
    if (String(component.getFirstPropertyValue('status')).toUpperCase() === 'CANCELLED') return [];
    const event = new ICAL.Event(component, { exceptions: [] });
    const zone = zoneOf(component, timeZone);
    const dates = new Set<string>();
    for (const { startDate, endDate } of occurrencesOf(event, changed)) {
      if (msOf(startDate, zone) > end) break;
      for (const { date, ms } of days) {
        const isOn = startDate.isDate
          ? dateOf(startDate) <= date && date < dateOf(endDate)
          : msOf(startDate, zone) <= ms && ms < msOf(endDate, zone);
        if (isOn) dates.add(date);
      }
    }
    return dates.size === 0
      ? []
      : [{ summary: event.summary ?? '', addresses: addressesOf(component), dates: [...dates] }];
  });
}

function* occurrencesOf(
  event: ICAL.Event,
  changed: ReadonlySet<string>,
): Generator<Pick<ICAL.Event, 'startDate' | 'endDate'>> {
  if (!event.isRecurring()) return yield event;
  const repeats = event.iterator();
  for (let count = 0; count < MOST_OCCURRENCES; count++) {
    const start = repeats.next();
    if (!start) return;
    if (!changed.has(`${event.uid} ${start.toUnixTime()}`)) yield event.getOccurrenceDetails(start);
  }
  throw new Error('an event is repeated too often');
}

function changedKey(component: ICAL.Component): string | undefined {
  const of = component.getFirstPropertyValue('recurrence-id');
  return of instanceof ICAL.Time ? `${component.getFirstPropertyValue('uid')} ${of.toUnixTime()}` : undefined;
}

/** The zone of times whose zone the file does not define: the IANA name that they have, or else the team's. */
function zoneOf(component: ICAL.Component, otherwise: string): string {
  const named = component.getFirstProperty('dtstart')?.getParameter('tzid');
  return typeof named === 'string' && ZONES.has(named) ? named : otherwise;
}

function msOf(time: ICAL.Time, zone: string): number {
  if (!time.isDate && time.zone && time.zone !== ICAL.Timezone.localTimezone) return time.toUnixTime() * 1_000;
  return momentOf(
    new Date(Date.UTC(time.year, time.month - 1, time.day, time.hour, time.minute, time.second))
      .toISOString()
      .slice(0, 19),
    zone,
  );
}

const momentOf = (local: string, timeZone: string) =>
  Temporal.PlainDateTime.from(local).toZonedDateTime(timeZone).epochMilliseconds;

const dateOf = ({ year, month, day }: ICAL.Time) => new Date(Date.UTC(year, month - 1, day)).toISOString().slice(0, 10);

function addressesOf(component: ICAL.Component): string[] {
  const address = (property: ICAL.Property) =>
    String(property.getFirstValue())
      .replace(/^mailto:/i, '')
      .toLowerCase();
  const attendees = component.getAllProperties('attendee');
  if (attendees.length === 0) return component.getAllProperties('organizer').map(address);
  return attendees.filter((one) => one.getFirstParameter('partstat') !== 'DECLINED').map(address);
}
