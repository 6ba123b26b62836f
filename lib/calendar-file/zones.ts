import ICAL from 'ical.js';
import { Temporal } from 'temporal-polyfill';
import windowsZones from './windows-zones.json' with { type: 'json' };

/** Converts a local time, as milliseconds that would show it in UTC, to a moment. */
export type Zone = (local: number) => number;

/**
 * Finds the zone for a name in a file: an IANA name, also at the end as in
 * `/freeassociation.sourceforge.net/Europe/Berlin`, a zone that the file defines, or a Windows name.
 * @param defined the zones that the file defines
 */
export function zoneOf(name: string, defined: ReadonlyMap<string, string>): Zone | undefined {
  const parts = name.split('/');
  const windows = (windowsZones as Partial<Record<string, string>>)[name];
  return (
    ianaZone(name) ??
    definedZone(defined.get(name)) ??
    [3, 2, 1].map((count) => ianaZone(parts.slice(-count).join('/'))).find((zone) => zone !== undefined) ??
    (windows === undefined ? undefined : ianaZone(windows))
  );
}

/** Tests the name with Intl itself, because Intl's list contains only one name for each zone. */
export function ianaZone(timeZone: string): Zone | undefined {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
  } catch {
    return undefined;
  }
  return (local) =>
    Temporal.PlainDateTime.from(new Date(local).toISOString().slice(0, 23)).toZonedDateTime(timeZone).epochMilliseconds;
}

function definedZone(text: string | undefined): Zone | undefined {
  try {
    const component = new ICAL.Component(ICAL.parse(text ?? ''));
    const zone = new ICAL.Timezone(component);
    const read: Zone = (local) => timeOf(local, false, zone).toUnixTime() * 1_000;
    const isWhole = component.getAllSubcomponents().some((one) => one.hasProperty('tzoffsetto'));
    return isWhole && Number.isFinite(read(Date.now())) ? read : undefined;
  } catch {
    return undefined;
  }
}

/** Returns a time of the library, without a zone unless one is given. */
export function timeOf(local: number, isDate: boolean, zone = ICAL.Timezone.localTimezone): ICAL.Time {
  const time = ICAL.Time.fromJSDate(new Date(local), true);
  time.isDate = isDate;
  time.zone = zone;
  return time;
}
