import type { Component } from './components.ts';
import { readDuration, readTime, type Span, type Time, writtenTimes } from './times.ts';
import { type Zone, zoneOf } from './zones.ts';

/** The times of an event. */
export interface ReadEvent {
  component: Component;
  uid: string;
  /** Orders the versions of the same event. */
  sequence: number;
  stamp: string;
  start: Period | undefined;
  /** The occurrence of a series that this event replaces. With `isRange`, it also replaces the later ones. */
  replaces: Time | undefined;
  isRange: boolean;
  isCancelled: boolean;
  also: Period[];
  except: Time[];
}

/** A time with its own end, if it has one. */
export interface Period extends Time {
  end?: Time | Span | undefined;
}

/**
 * Reads events. Leaves out each property that cannot be read, and nothing else.
 * @param leftOut is called for each left-out property
 */
export function createEventReader(leftOut: (what: string) => void): (component: Component) => ReadEvent {
  const known = new Map<Component['zones'], Map<string, Zone | undefined>>();

  function zoneNamed(name: string, defined: Component['zones']): Zone | undefined {
    const ofCalendar = known.get(defined) ?? new Map<string, Zone | undefined>();
    known.set(defined, ofCalendar);
    if (name !== '' && !ofCalendar.has(name)) {
      ofCalendar.set(name, zoneOf(name, defined));
      const shown = name.slice(0, 60).replaceAll(/[^\p{L}\p{N} .,+:()&/_-]/gu, '?');
      if (!ofCalendar.get(name)) leftOut(`the zone "${shown}" is not known: its times are read as if they named none`);
    }
    return ofCalendar.get(name);
  }

  return (component) => {
    const { properties, title, zones } = component;
    const textOf = (name: string) => properties.get(name)?.at(0)?.value.trim() ?? '';
    const is = (name: string, value: string) => textOf(name).toUpperCase() === value;

    function periods(name: string): Period[] {
      return (properties.get(name) ?? []).flatMap((property) => {
        const { texts, zone: named, isDate } = writtenTimes(property);
        const zone = zoneNamed(named, zones);
        return texts.flatMap((text) => {
          const [begin = '', end] = text.split('/');
          const time = readTime(begin, zone, isDate);
          if (!time) leftOut(`${title}: a ${name} is not a date or time`);
          return time === undefined
            ? []
            : { ...time, end: end === undefined ? undefined : (readDuration(end) ?? readTime(end, zone)) };
        });
      });
    }

    const isAllDay = [...properties.keys()].some((name) => name.endsWith('ALLDAYEVENT') && is(name, 'TRUE'));
    const [start] = periods('DTSTART');
    const [replaces] = periods('RECURRENCE-ID');
    const duration = textOf('DURATION');
    const lasts = duration === '' ? undefined : readDuration(duration);
    if (duration !== '' && !lasts) leftOut(`${title}: its DURATION cannot be read`);
    const isCancelled = component.isCancelled || is('STATUS', 'CANCELLED');
    if (!properties.has('DTSTART') && !isCancelled) leftOut(`${title}: it has no DTSTART`);
    return {
      component,
      uid: (properties.has('RECURRENCE-ID') && !replaces ? '' : textOf('UID')) || title,
      sequence: Number.parseInt(textOf('SEQUENCE'), 10) || 0,
      stamp: textOf('DTSTAMP'),
      start: start && { ...start, isDate: start.isDate || isAllDay, end: periods('DTEND')[0] ?? lasts },
      replaces,
      isRange: (properties.get('RECURRENCE-ID') ?? []).some(({ parameters }) =>
        /;RANGE="?THISANDFUTURE/i.test(parameters),
      ),
      isCancelled,
      also: periods('RDATE'),
      except: periods('EXDATE'),
    };
  };
}
