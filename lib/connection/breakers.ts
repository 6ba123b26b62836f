import { isOfPeople, type Lane } from '../budget/lanes.ts';
import { keys } from '../table/keys.ts';
import type { Item, Table } from '../table/table.ts';

/** What a breaker stops: one operation of a connection, or the whole connection if no operation is named. */
export interface Scope {
  connection: string;
  operation?: string;
}

/** Consecutive failures. The first success deletes the record. Times are epoch milliseconds. */
export interface Breaker {
  /** The reason for the last failure. */
  why: string;
  /** When the first failure happened. */
  since: number;
  /** The distinct callers whose calls failed before it opened. */
  callers: string[];
  /** No calls before this time. After it, one caller at a time probes. 0 while the breaker is closed. */
  until: number;
  /** Consecutive failures: of calls while it is closed, of probes while it is open. */
  failures: number;
  /** When the last probe began, or 0. */
  probedAt: number;
  version: number;
}

type Counted = Omit<Breaker, 'version'>;

/** What a breaker tells one caller. The caller reports the result of its call here. */
export interface Passage {
  /** `probe`: the call is a probe, if {@link claimProbe} grants it. */
  says: 'call' | 'probe' | 'wait';
  /** When a probe is or was due; epoch milliseconds, 0 if the breaker is closed. */
  probeDueAt: number;
  /** When to check again, and why. */
  wait(): { until: number; why: string };
  /**
   * Claims the only probe. A caller can also probe a connection whose breaker is closed, if it suspects an outage.
   * Other callers keep calling in the meantime.
   * @returns false if another caller is probing, or if a recent probe showed that the connection works
   */
  claimProbe(): Promise<boolean>;
  /**
   * @param caller identifies the caller; an operation's breaker opens after consecutive failures of several callers
   * @returns `open` if the breaker is open now; otherwise whether this failure is the first in a row
   */
  failed(caller: string, why: string): Promise<'first' | 'again' | 'open'>;
  worked(): Promise<void>;
}

/**
 * Stops calls after failures, with one breaker per operation and one per connection. An open breaker lets no calls
 * through. One caller at a time probes, after pauses that double. The first success closes the breaker for everyone.
 */
export interface Breakers {
  /** Call this before each call to the service. */
  at(scope: Scope, lane: Lane): Promise<Passage>;
  /** The breaker of a connection, if it is open. It may be probed after its `until`. */
  view(connection: string): Promise<Breaker | undefined>;
  /** Every open breaker of a connection and its operations. */
  listOpen(connection: string): Promise<(Breaker & Scope)[]>;
  /** Closes the breakers of the connection and of its operations, and calls `recovered`. */
  closeAll(connection: string): Promise<void>;
}

/**
 * An operation's breaker opens after failures of this many different callers. A single payload that the service cannot
 * process keeps failing, and must not stop the other callers.
 */
const CALLERS_TO_OPEN = 3;
/** Probing a connection is harmless. Probing an operation may create another object whose answer gets lost. */
const FIRST_PAUSE_MS = { connection: 10_000, operation: 30_000 };
const LONGEST_PAUSE_MS = 5 * 60_000;
/** A probe that has not reported after this long counts as killed. */
const PROBE_MS = 15_000;
/** People do not wait for the end of a pause: their call may probe this long after the last probe. */
const EARLY_PROBE_MS = 10_000;
/** Waiting callers check at least this often, so that they continue soon after another caller's probe succeeds. */
const LOOK_AGAIN_MS = 60_000;
/** Waiting callers return spread over this period, so that they do not all arrive during the probe. */
const SPREAD_MS = 5_000;
/** After a successful probe, this process trusts the connection for this long. */
const TRUSTED_MS = 10_000;
const TRIES = 5;

export interface BreakersOptions {
  table: Table;
  clock: () => number;
  random: () => number;
  /** Called when a connection or one of its operations works again, so that waiting jobs can continue. */
  recovered?: (connection: string) => Promise<void>;
}

export function createBreakers({ table, clock, random, recovered = async () => {} }: BreakersOptions): Breakers {
  const trustedUntil = new Map<string, number>();

  const read = async (scope: Scope) => (await table.get(keyOf(scope))) as Breaker | undefined;

  /** @returns the written breaker, or undefined if another caller has written since `last` was read */
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
          const { until = now, probedAt = 0, why = '' } = seen ?? {};
          // If a probe is due, another caller is making it.
          const due = until <= now ? now + PROBE_MS : until;
          const early = !probes && isOfPeople(lane) ? Math.max(probedAt + EARLY_PROBE_MS, now) : due;
          return {
            until: Math.min(due, early, now + LOOK_AGAIN_MS) + random() * SPREAD_MS,
            why: `${nameOf(scope)}: ${why}`,
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
            // This call began before the breaker opened.
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
          // The operations failed because the connection was down, so their breakers close too.
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
  // An operation's breaker already had its first pause when it opened.
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

/** The pause doubles with each consecutive failure. `failures` starts at 1. */
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
