import { now } from './clock.ts';
import { duration, exactTime, localTime, relative, roughTime } from './format.ts';
import { useValue } from './state.ts';

/** A local time, with the zone and the milliseconds in its title. */
export function At({ at }: { at: number }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={exactTime(at)}>
      {localTime(at, useValue(now))}
    </time>
  );
}

/** How long ago it was, or how far away it is, with the exact local time in its title. */
export function Ago({ at }: { at: number }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={exactTime(at)}>
      {relative(at, useValue(now))}
    </time>
  );
}

/** A local time and how far away it is: `14:05:09, in 12 min`. */
export function AtAndAway({ at }: { at: number }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={exactTime(at)}>
      {roughTime(at, useValue(now))}, {relative(at, useValue(now))}
    </time>
  );
}

/** A local time to come and how far away it is, or what happens once it has come. */
export function Coming({ at, past }: { at: number; past: string }) {
  if (at <= useValue(now)) return past;
  return (
    <>
      at <AtAndAway at={at} />
    </>
  );
}

/** The time since then, which goes on. */
export function Since({ at }: { at: number }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={`since ${exactTime(at)}`}>
      {duration(Math.max(0, Math.floor((useValue(now) - at) / 1000) * 1000))}
    </time>
  );
}
