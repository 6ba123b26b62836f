import type { ComponentChildren } from 'preact';
import type { JobRow } from '../contract.ts';
import { now } from './clock.ts';
import { duration, exactTime, localTime, relative, roughTime } from './format.ts';
import { useValue } from './state.ts';

function Time({ at, since = '', children }: { at: number; since?: string; children: ComponentChildren }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={since + exactTime(at)}>
      {children}
    </time>
  );
}

/** A local time, with its zone and milliseconds as the title. */
export function At({ at }: { at: number }) {
  return <Time at={at}>{localTime(at, useValue(now))}</Time>;
}

/** The time since or until a moment, with the exact local time as the title. */
export function Ago({ at }: { at: number }) {
  return <Time at={at}>{relative(at, useValue(now))}</Time>;
}

/** A local time, and the time since or until it: `14:05:09, in 12 min`. */
export function AtAndAway({ at }: { at: number }) {
  return (
    <Time at={at}>
      {roughTime(at, useValue(now))}, {relative(at, useValue(now))}
    </Time>
  );
}

/** A future local time, and the time until it, or another text once it has passed. */
export function Coming({ at, isForecast, past }: { at: number; isForecast?: true | undefined; past: string }) {
  if (at <= useValue(now)) return past;
  return (
    <>
      at {isForecast && 'about '}
      <AtAndAway at={at} />
    </>
  );
}

/** When a waiting job continues, if that is known. */
export function Continues({ job }: { job: Pick<JobRow, 'status' | 'until' | 'isForecast'> }) {
  const { status, until, isForecast } = job;
  if (status !== 'waiting' || until === undefined) return null;
  return (
    <span>
      continues <Coming at={until} isForecast={isForecast} past="as soon as a worker takes it" />
    </span>
  );
}

/** The time since then, which runs. */
export function Since({ at }: { at: number }) {
  return (
    <Time at={at} since="since ">
      {duration(Math.max(0, Math.floor((useValue(now) - at) / 1000) * 1000))}
    </Time>
  );
}
