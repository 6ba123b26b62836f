import ICAL from 'ical.js';
import { addDays } from '../dates.ts';

/**
 * The days of all events of an iCalendar text (RFC 5545) that last whole days, as often as they recur. An event with a
 * time of day has none, nor has one that is cancelled.
 *
 * @param first the first date that is taken, `YYYY-MM-DD`
 * @param end the first that no longer is
 * @returns dates as `YYYY-MM-DD`, in the order of the text, and as often as they are in it
 * @throws {Error} where the text is not iCalendar
 */
export function allDayDates(text: string, first: string, end: string): string[] {
  return eventsIn(text).flatMap((event) => datesOf(event, first, end));
}

function eventsIn(text: string): ICAL.Event[] {
  const components = calendarsIn(text).flatMap((calendar) => calendar.getAllSubcomponents('vevent'));
  const isChange = (component: ICAL.Component) => component.hasProperty('recurrence-id');
  return components
    .filter((component) => !isChange(component) && !isCancelled(component))
    .map((component) => {
      // By default ical.js takes the changed occurrences of every event in the file for changes of this one.
      const uid = component.getFirstPropertyValue('uid');
      const exceptions = components.filter((one) => isChange(one) && one.getFirstPropertyValue('uid') === uid);
      return new ICAL.Event(component, { exceptions });
    });
}

function calendarsIn(text: string): ICAL.Component[] {
  // ical.js stumbles over a byte order mark, with which some programs begin a file.
  const parsed = ICAL.parse(text.replace(/^\uFEFF/, ''));
  const roots: unknown[][] = typeof parsed[0] === 'string' ? [parsed] : parsed;
  const calendars = roots.filter(([name]) => name === 'vcalendar').map((root) => new ICAL.Component(root));
  if (calendars.length === 0) throw new Error('no VCALENDAR in it');
  return calendars;
}

function datesOf(event: ICAL.Event, first: string, end: string): string[] {
  if (!event.startDate?.isDate) return [];
  const { component } = event;
  if (component.hasProperty('rdate') && !component.hasProperty('rrule')) {
    // RFC 5545 counts DTSTART as the first occurrence; ical.js leaves it out (https://github.com/kewisch/ical.js/pull/534).
    component.addPropertyWithValue('rdate', event.startDate);
  }
  const dates: string[] = [];
  const occurrences = event.iterator();
  for (let next = occurrences.next(); next && next.toString() < end; next = occurrences.next()) {
    const { item, startDate, endDate } = event.getOccurrenceDetails(next);
    if (!startDate.isDate || isCancelled(item.component)) continue;
    dates.push(...daysOf(startDate.toString(), endDate.toString(), first, end));
  }
  return dates;
}

/** From the event's start, and to before its end (DTEND is exclusive); some programs repeat the start as the end. */
function daysOf(start: string, eventEnd: string, first: string, end: string): string[] {
  const dates = [];
  const after = eventEnd > start ? eventEnd : addDays(start, 1);
  for (let date = start > first ? start : first; date < after && date < end; date = addDays(date, 1)) dates.push(date);
  return dates;
}

function isCancelled(component: ICAL.Component): boolean {
  return String(component.getFirstPropertyValue('status')).toUpperCase() === 'CANCELLED';
}
