/** A time for people: in the zone of this machine, which it names. `2026-11-22 06:10:03 CET` */
export function localTime(ms: number): string {
  const parts = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium' }).format(ms);
  return `${parts} ${zoneAt(ms)}`;
}

/** The time of the day in the zone of this machine, `06:10:03`. */
export function localClock(ms: number): string {
  return new Intl.DateTimeFormat('sv-SE', { timeStyle: 'medium' }).format(ms);
}

/** The zone of this machine at that time, `CET` or `GMT+5:30`. */
export function zoneAt(ms: number): string {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' }).formatToParts(ms);
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'UTC';
}
