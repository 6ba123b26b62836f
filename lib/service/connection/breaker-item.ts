import * as z from 'zod/mini';
import type { Item } from '../../state/table/table.ts';
import { operations } from '../partner/operations/operations.ts';

/** The failures of a connection. There is no item until something has failed. */
export interface Health {
  version: number;
  /** The breakers by operation. The connection's own is at {@link WHOLE}. */
  breakers: Record<string, Breaker>;
  /** The operations that have a waiting line. */
  lined: string[];
  /** True if no call has succeeded since the service last answered 429. */
  isLimited: boolean;
  /** How often a call succeeded after a 429. */
  servedAgain: number;
}

export const WHOLE = 'connection';

export const LONGEST_PAUSE_MS = 300_000;
/** More than any difference between clocks. */
const AHEAD_MS = 2_000;

const string = z.string();
const strings = z.array(string);
const boolean = z.boolean();
const count = z.int().check(z.gte(0));
const time = z.number().check(z.gte(0));
const byName = z.record(string, z.unknown());

/** The state of a series of failures. Times are epoch milliseconds. */
export type Breaker = z.output<typeof breakerShape>;

const breakerShape = z.object({
  /** The reason for the last failure. */
  why: string,
  /** When the first failure happened that may have the same cause as the last one. */
  since: time,
  /** The outcome and time of the last failed call, until the breaker opens. */
  kind: z.exactOptional(string),
  failedAt: z.exactOptional(time),
  failures: count,
  /** The different callers of failed calls, up to the number that opens the breaker. */
  callers: strings,
  /** When a call first succeeded after the last failure. */
  workedAt: time,
  /** Blocks calls before this time. After it, one caller at a time probes. 0 while the breaker is closed. */
  until: time,
  /** The number of failed probes in a row. */
  probes: count,
  /** When the breaker opened, or when the last probe began. */
  probedAt: time,
  /** The caller that opened the breaker or probed last. */
  prober: string,
  /** A probe showed that the service refuses the key. Calls fail until an operator enters another key. */
  refusesKey: z.exactOptional(boolean),
  /** The log says that calls are stopped, and will say when they work again. */
  told: z.exactOptional(boolean),
});

/** @returns undefined for impossible values: a time in the future, or a pause that is longer than the longest */
function readBreaker(stored: unknown, now: number): Breaker | undefined {
  const { data } = breakerShape.safeParse(stored);
  if (!data || Math.max(data.since, data.workedAt, data.probedAt) > now + AHEAD_MS) return undefined;
  return data.until > now + LONGEST_PAUSE_MS + AHEAD_MS ? undefined : data;
}

/** Reads the item of a connection. Accepts any item. Impossible values are dropped and named in `faults`. */
export function readHealth(item: Item | undefined, now: number): { health: Health; faults: string[] } {
  const faults: string[] = [];
  function read<T>(attribute: keyof Health, shape: z.ZodMiniType<T>, missing: T, instead = missing): T {
    const value = item?.[attribute];
    if (value === undefined) return missing;
    const { data, error } = shape.safeParse(value);
    if (error) faults.push(attribute);
    return error ? instead : data;
  }

  const stored = readBreakers(item, now);
  if (stored.isFaulty) faults.push('breakers');
  const health = {
    version: read('version', count, 0),
    breakers: stored.breakers,
    // Then any operation may have a line. Empty lines end by themselves.
    lined: read('lined', strings, [], [...operations.keys()]),
    isLimited: read('isLimited', boolean, false),
    servedAgain: read('servedAgain', count, 0),
  };
  return { health, faults: [...new Set(faults)] };
}

/** Returns the readable breakers of a connection. */
export function readBreakers(item: Item | undefined, now: number) {
  const stored = byName.safeParse(item?.breakers ?? {});
  const read = Object.entries(stored.data ?? {}).map(([name, one]) => [name, readBreaker(one, now)] as const);
  const breakers = Object.fromEntries(read.flatMap(([name, one]) => (one ? [[name, one]] : [])));
  return { breakers, isFaulty: !stored.success || read.some(([, one]) => one === undefined) };
}

/**
 * A breaker that stops calls. The connection's own has no operation. It is listed once a probe has failed. After an
 * operator has closed it, it stays listed until something shows that the service accepts the key again.
 */
export type OpenBreaker = Breaker & { operation?: string };

export function openBreakers(breakers: Health['breakers']): OpenBreaker[] {
  return Object.entries(breakers)
    .filter(([name, { until, probes, refusesKey, told }]) =>
      name === WHOLE ? probes > 0 || (refusesKey === true && told === true) : until > 0,
    )
    .map(([name, breaker]) => (name === WHOLE ? breaker : { ...breaker, operation: name }));
}

/**
 * Returns the breakers that an operator needs to know. While the connection is down, that is the reason for which its
 * operations fail.
 */
export function causesOf(stopped: readonly OpenBreaker[]): readonly OpenBreaker[] {
  const whole = stopped.filter(({ operation }) => operation === undefined);
  return whole.length > 0 ? whole : stopped;
}
