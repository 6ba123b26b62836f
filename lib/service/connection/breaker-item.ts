import * as z from 'zod/mini';
import type { Item } from '../../state/table/table.ts';
import { operations } from '../partner/operations/operations.ts';

/** The item of a connection. Missing while nothing has ever failed. */
export interface Health {
  version: number;
  /** By operation, and that of the connection at {@link WHOLE}. */
  breakers: Record<string, Breaker>;
  /** The operations that jobs may stand in line for. */
  lined: string[];
  /** True if no call has succeeded since the service last answered 429. */
  isLimited: boolean;
  /** How often a call succeeded after a 429. */
  servedAgain: number;
}

export const WHOLE = 'connection';

export const LONGEST_PAUSE_MS = 300_000;
/** Clocks differ by less. */
const AHEAD_MS = 2_000;

const string = z.string();
const strings = z.array(string);
const boolean = z.boolean();
const count = z.int().check(z.gte(0));
const time = z.number().check(z.gte(0));
const byName = z.record(string, z.unknown());

/** What is known of the failures in a row. Times are epoch milliseconds. */
export type Breaker = z.output<typeof breakerShape>;

const breakerShape = z.object({
  /** The reason for the last failure. */
  why: string,
  /** When the first of the failures in a row happened that may have the cause of the last. */
  since: time,
  /** The outcome of the last failed call, and when it failed, until the breaker opens. */
  kind: z.exactOptional(string),
  failedAt: z.exactOptional(time),
  failures: count,
  /** The distinct callers of failed calls, up to as many as it takes to open. */
  callers: strings,
  /** When a call succeeded. Only the first success after a failure is noted. */
  workedAt: time,
  /** No calls before this time. After it, one caller at a time probes. 0 while the breaker is closed. */
  until: time,
  /** Failed probes in a row. */
  probes: count,
  /** When it opened, or when the last probe began. */
  probedAt: time,
  /** The caller that opened it or probed last. */
  prober: string,
  /** A probe showed that the service refuses the key: it lasts until an operator enters another one. */
  refusesKey: z.exactOptional(boolean),
  /** The log says that it is stopped, and will say that it works again. */
  told: z.exactOptional(boolean),
});

/** @returns undefined for impossible values: nothing is noted before it happened, and no pause is longer than the longest */
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
    // Jobs may stand in any line then. The empty ones end by themselves.
    lined: read('lined', strings, [], [...operations.keys()]),
    isLimited: read('isLimited', boolean, false),
    servedAgain: read('servedAgain', count, 0),
  };
  return { health, faults: [...new Set(faults)] };
}

/** The breakers of a connection that can be read. */
export function readBreakers(item: Item | undefined, now: number) {
  const stored = byName.safeParse(item?.breakers ?? {});
  const read = Object.entries(stored.data ?? {}).map(([name, one]) => [name, readBreaker(one, now)] as const);
  const breakers = Object.fromEntries(read.flatMap(([name, one]) => (one ? [[name, one]] : [])));
  return { breakers, isFaulty: !stored.success || read.some(([, one]) => one === undefined) };
}

/**
 * A breaker that stops calls. That of the whole connection has no operation. It counts once a probe has failed, and after an
 * operator has closed it, until something shows that the service takes the key again.
 */
export type OpenBreaker = Breaker & { operation?: string };

export function openBreakers(breakers: Health['breakers']): OpenBreaker[] {
  return Object.entries(breakers)
    .filter(([name, { until, probes, refusesKey, told }]) =>
      name === WHOLE ? probes > 0 || (refusesKey === true && told === true) : until > 0,
    )
    .map(([name, breaker]) => (name === WHOLE ? breaker : { ...breaker, operation: name }));
}

/** What an operator has to know of: while the connection is down, its operations fail for that. */
export function causesOf(stopped: readonly OpenBreaker[]): readonly OpenBreaker[] {
  const whole = stopped.filter(({ operation }) => operation === undefined);
  return whole.length > 0 ? whole : stopped;
}
