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

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A length of time for people, in its two largest units: `280 ms`, `10.3 s`, `4 min 10 s`, `2 h 3 min`, `3 d 4 h`. */
export function elapsed(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < MINUTE) return `${Number((ms / SECOND).toFixed(1))} s`;
  const [large, small] =
    ms < HOUR ? ([MINUTE, SECOND] as const) : ms < DAY ? ([HOUR, MINUTE] as const) : ([DAY, HOUR] as const);
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${UNITS[large]}${rest === 0 ? '' : ` ${rest} ${UNITS[small]}`}`;
}

const UNITS = { [SECOND]: 's', [MINUTE]: 'min', [HOUR]: 'h', [DAY]: 'd' };
