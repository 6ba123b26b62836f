import { isOfPeople, type Lane } from '../budget/lanes.ts';
import { keys } from '../table/keys.ts';
import type { Item, Table } from '../table/table.ts';

/** What a breaker stops: one operation of a connection, or the whole connection where no operation is named. */
export interface Scope {
  connection: string;
  operation?: string;
}

/** What is known of failures in a row. The first success deletes it. Times are epoch milliseconds. */
export interface Breaker {
  /** The last failure. */
  why: string;
  /** The first failure. */
  since: number;
  /** Those whose calls failed before it opened, each once. */
  callers: string[];
  /** No calls before then; afterwards one caller at a time probes. 0 while it is closed. */
  until: number;
  /** In a row: of calls while it is closed, of probes while it is open. */
  failures: number;
  /** When the last probe began, or 0. */
  probedAt: number;
  version: number;
}

type Counted = Omit<Breaker, 'version'>;

/** What a breaker says to one caller, and where that caller reports how its call went. */
export interface Passage {
  /** `probe`: the call is a probe, if {@link claimProbe} grants it. */
  says: 'call' | 'probe' | 'wait';
  /** When it may be probed, or could have been; epoch milliseconds, 0 where it is closed. */
  probeDueAt: number;
  /** When to look again, and why. */
  wait(): { until: number; why: string };
  /**
   * Claims the one probe. A closed breaker of a connection can be probed too, on the suspicion that it is down: then
   * others go on calling meanwhile.
   * @returns false where another caller probes, or a suspicion has just been found wrong
   */
  claimProbe(): Promise<boolean>;
  /**
   * @param caller who called; an operation's breaker opens once the calls of several callers have failed in a row
   * @returns whether it is open now, or else whether the failure is the first in a row
   */
  failed(caller: string, why: string): Promise<'first' | 'again' | 'open'>;
  worked(): Promise<void>;
}

/**
 * Stops calls after failures: one breaker per operation, and one per connection. While it is open nothing is called. One
 * caller at a time probes, after pauses that double; the first success closes it for all.
 */
export interface Breakers {
  /** Asked before each call. */
  at(scope: Scope, lane: Lane): Promise<Passage>;
  /** The breaker of a connection while it is open. It may be probed after its `until`. */
  view(connection: string): Promise<Breaker | undefined>;
  /** Every open breaker of a connection and its operations. */
  listOpen(connection: string): Promise<(Breaker & Scope)[]>;
  /** Closes the breaker of the connection and those of its operations, and reports that. */
  closeAll(connection: string): Promise<void>;
}

/**
 * An operation's breaker opens after failures of this many different callers. One payload that the service cannot
 * digest fails again and again, and must not stop the others.
 */
const CALLERS_TO_OPEN = 3;
/** The probe of a connection is harmless. That of an operation may be one more creation of which nobody hears again. */
const FIRST_PAUSE_MS = { connection: 10_000, operation: 30_000 };
const LONGEST_PAUSE_MS = 5 * 60_000;
/** A probe that has not reported by then was killed. */
const PROBE_MS = 15_000;
/** A person need not wait for the end of a pause: their call may probe this long after the last probe. */
const EARLY_PROBE_MS = 10_000;
/** Waiting callers look again at least this often, so that they go on soon after a probe of somebody else. */
const LOOK_AGAIN_MS = 60_000;
/** Waiting callers come back spread over this long, so that they do not all meet the probe. */
const SPREAD_MS = 5_000;
/** How long this process takes a connection whose probe got through for one that works. */
const TRUSTED_MS = 10_000;
const TRIES = 5;

export interface BreakersOptions {
  table: Table;
  clock: () => number;
  random: () => number;
  /** Called after a connection, or one of its operations, works again: what waits for it can go on. */
  recovered?: (connection: string) => Promise<void>;
}

export function createBreakers({ table, clock, random, recovered = async () => {} }: BreakersOptions): Breakers {
  const trustedUntil = new Map<string, number>();

  const read = async (scope: Scope) => (await table.get(keyOf(scope))) as Breaker | undefined;

  /** @returns what was written, or undefined where another caller wrote since `last` was read */
  async function write(scope: Scope, next: Counted, last: Breaker | undefined): Promise<Breaker | undefined> {
    const breaker = { ...next, version: (last?.version ?? 0) + 1 };
    const written = await table.put({ ...keyOf(scope), ...scope, ...breaker }, unchanged(last));
    return written ? breaker : undefined;
  }

  async function list(connection: string): Promise<(Breaker & Scope)[]> {
    const items = await table.partition(keys.breaker(connection).pk);
    return items.map(({ pk, sk, ...item }) => item as Item & Breaker & Scope);
  }

  async function closeAll(connection: string): Promise<void> {
    for (const { operation } of await list(connection)) {
      await table.delete(keys.breaker(connection, operation));
    }
    await recovered(connection);
  }

  return {
    async at(scope, lane) {
      const isWhole = scope.operation === undefined;
      let seen = await read(scope);
      let probes = false;
      return {
        says: saysTo(lane, seen, clock()),
        probeDueAt: seen?.until ?? 0,
        wait() {
          const now = clock();
          const { until = now, probedAt = 0, since = now, why = '' } = seen ?? {};
          // Where a probe is due, another caller makes it.
          const due = until <= now ? now + PROBE_MS : until;
          const early = !probes && isOfPeople(lane) ? Math.max(probedAt + EARLY_PROBE_MS, now) : due;
          return {
            until: Math.min(due, early, now + LOOK_AGAIN_MS) + random() * SPREAD_MS,
            why: `${nameOf(scope)} since ${new Date(since).toISOString()}: ${why}`,
          };
        },
        async claimProbe() {
          const now = clock();
          let next: Counted = { why: '', since: now, callers: [], until: 0, failures: 0, probedAt: now };
          if (seen && seen.until > 0) {
            next = { ...seen, until: Math.max(seen.until, now + PROBE_MS), probedAt: now };
          } else {
            const isTrusted = (trustedUntil.get(scope.connection) ?? 0) > now;
            const isProbed = seen !== undefined && seen.probedAt + PROBE_MS > now;
            if (isTrusted || isProbed) return false;
          }
          const claimed = await write(scope, next, seen);
          if (!claimed) return false;
          seen = claimed;
          probes = true;
          return true;
        },
        async failed(caller, why) {
          for (let tries = 0; tries < TRIES; tries++) {
            const last = probes ? seen : await read(scope);
            // A call that began before the breaker opened reports late.
            if (last && last.until > 0 && !probes) return 'open';
            const next = probes ? afterProbe(scope, last, why, clock()) : afterCall(last, caller, why, clock());
            const written = await write(scope, next, last);
            seen = written ?? seen;
            if (written || probes) return next.until > 0 ? 'open' : last ? 'again' : 'first';
          }
          return 'again';
        },
        async worked() {
          if (isWhole && probes) trustedUntil.set(scope.connection, clock() + TRUSTED_MS);
          if (!seen || !(await table.delete(keyOf(scope), unchanged(seen))) || seen.until === 0) return;
          // What the operations met was the connection's failure.
          if (isWhole) await closeAll(scope.connection);
          else await recovered(scope.connection);
        },
      };
    },
    closeAll,
    async view(connection) {
      const breaker = await read({ connection });
      return breaker && breaker.until > 0 ? breaker : undefined;
    },
    async listOpen(connection) {
      return (await list(connection)).filter(({ until }) => until > 0);
    },
  };
}

const keyOf = ({ connection, operation }: Scope) => keys.breaker(connection, operation);

function saysTo(lane: Lane, breaker: Breaker | undefined, now: number): Passage['says'] {
  if (!breaker || breaker.until === 0) return 'call';
  if (breaker.until <= now) return 'probe';
  return isOfPeople(lane) && breaker.probedAt + EARLY_PROBE_MS <= now ? 'probe' : 'wait';
}

function afterProbe({ operation }: Scope, last: Breaker | undefined, why: string, now: number): Counted {
  const failures = (last?.failures ?? 0) + 1;
  // An operation's breaker has been open for the first pause by then.
  const pause =
    operation === undefined
      ? pauseAfter(failures, FIRST_PAUSE_MS.connection)
      : pauseAfter(failures + 1, FIRST_PAUSE_MS.operation);
  const { callers = [], since = now, probedAt = now } = last ?? {};
  return { why, since, callers, until: now + pause, failures, probedAt };
}

function afterCall(last: Breaker | undefined, caller: string, why: string, now: number): Counted {
  const callers = [...new Set([...(last?.callers ?? []), caller])];
  const opens = callers.length >= CALLERS_TO_OPEN;
  const { since = now, failures = 0 } = last ?? {};
  const until = opens ? now + FIRST_PAUSE_MS.operation : 0;
  return { why, since, callers, until, failures: opens ? 0 : failures + 1, probedAt: 0 };
}

/** Twice as long with each failure in a row, from 1. */
function pauseAfter(failures: number, firstMs: number): number {
  return Math.min(firstMs * 2 ** (failures - 1), LONGEST_PAUSE_MS);
}

function unchanged(last: Breaker | undefined) {
  return last
    ? { expression: '#version = :version', values: { version: last.version } }
    : { expression: 'attribute_not_exists(#pk)' };
}

function nameOf({ connection, operation }: Scope): string {
  return operation === undefined
    ? `the connection ${connection} is down`
    : `${operation} fails on the connection ${connection}`;
}
