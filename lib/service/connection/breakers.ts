import { isDeepStrictEqual } from 'node:util';
import type { SendOutcome } from '../../decide.ts';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import { unchangedSince } from '../../state/table/unreadable-item.ts';
import { isOfPeople, type Lane } from '../budget/lanes.ts';
import { type Breaker, type Health, LONGEST_PAUSE_MS, readHealth, WHOLE } from './breaker-item.ts';

/** The calls that a breaker stops: one operation of a connection, or without an operation the whole connection. */
export interface Scope {
  connection: string;
  operation?: string;
}

export interface Caller {
  id: string;
  lane: Lane;
}

export interface CallFailure {
  why: string;
  /** Failures of the same kind in a row may have the same cause. */
  kind: SendOutcome;
  refusesKey: boolean;
}

export interface Stop {
  scope: Scope;
  breaker: Breaker;
  /** From then on, the caller may probe, provided that {@link Breakers.claimProbe} grants it. */
  mayProbeAt: number;
  /** When to check again. Set if the stop probably ends within seconds. */
  lookAgainAt?: number;
  why: string;
}

/**
 * Stops calls while nothing works, for each operation and each connection. One caller at a time probes, after growing
 * pauses. The first success of any caller closes the breaker.
 */
export type Breakers = ReturnType<typeof createBreakers>;

/**
 * A breaker opens after this many failures in a row, or at the first refusal of the key. For an operation, the failures
 * must come from as many different callers.
 */
const FAILURES_TO_OPEN = 3;
/** After a success this recent, failures mean that calls get lost, not that nothing works. */
const WORKED_LATELY_MS = 3_000;
/** The pauses before the next probe. The first probe is due immediately, so that a false alarm costs little. */
const PAUSES_MS = [0, 2_000, 5_000, 15_000, 40_000, 120_000] as const;
/**
 * How many probes a caller makes itself, because their pauses are short. After that, the line calls another job for the
 * probe.
 */
const OWN_PROBES = 4;
/** If a caller has not made its own probe by then, the line calls another job for it. */
const LATE_PROBE_MS = 10_000;
/**
 * The longest pause after a probe for a person. The probe of a connection changes nothing; the probe of an operation
 * uses up an attempt of a job. A connection is then probed every 20 s, including the time in which a message wakes a
 * worker.
 */
const PAUSE_OF_PEOPLE_MS = { connection: 15_000, operation: 60_000 } as const;
/**
 * After this many probes, a connection is probed as rarely as an operation. A probe every 15 s would use up its budget
 * in a day.
 */
const MOST_OFTEN_PROBES = 240;
/** How long after the last probe a person's call may probe, before the pause is over. */
export const EARLY_PROBE_MS = 10_000;
/** A probe that has not reported after this time counts as killed. */
const PROBE_MS = 15_000;
/** The longest wait that is worth staying for. A probe that takes longer meets an outage. */
const WORTH_STAYING_MS = 2_000;
const LOOK_EVERY_MS = 300;
/**
 * How long the line of a working operation is kept. A job that saw the breaker open may join it late, and its index may
 * lag behind.
 */
const LATE_IN_LINE_MS = 30_000;
/** A failure without another one for this long, such as a lost answer, is not the beginning of an outage. */
const OF_ONE_CAUSE_MS = 60_000;
/** How long an operation is remembered after its last failure. */
const FORGOTTEN_MS = 10 * 60_000;
/** The prober after a probe that showed nothing, so that any caller may make the next one. */
const NO_PROBER = '';
const TRIES = 8;

interface BreakersOptions {
  table: Table;
  clock: () => number;
  random: () => number;
  /** Called when waiting jobs can continue, or when one of them can probe. */
  recovered?: (connection: string) => Promise<void>;
  warn?: (entry: object) => void;
}

export function createBreakers({ table, clock, random, recovered = async () => {}, warn = () => {} }: BreakersOptions) {
  const read = async (connection: string): Promise<Health> =>
    readHealth(await table.get(keys.breaker(connection)), clock()).health;

  /**
   * Writes the item if `decide` changes it. Tries again if another caller was faster.
   * @returns undefined if other callers were faster each time
   */
  async function change<T>(connection: string, decide: (health: Health, now: number) => T): Promise<T | undefined> {
    for (let tries = 0; tries < TRIES; tries++) {
      const stored = await table.get(keys.breaker(connection));
      const now = clock();
      const { health, faults } = readHealth(stored, now);
      const before = structuredClone(health);
      const answer = decide(health, now);
      if (faults.length === 0 && isDeepStrictEqual(before, health)) return answer;
      const breakers = Object.fromEntries(Object.entries(health.breakers).filter(([, one]) => isKept(one, now)));
      const item = { ...keys.breaker(connection), ...health, breakers, version: health.version + 1 };
      if (!(await table.put(item, unchangedSince('version', stored?.version)))) continue;
      if (faults.length > 0)
        warn({ message: 'the breakers had impossible values, which were left out', connection, faults });
      return answer;
    }
    return undefined;
  }

  return {
    /**
     * Returns what stops a call. Ask this before each call to the service. @returns undefined if the call may be made
     */
    async stopOf({ connection, operation }: Required<Scope>, { id, lane }: Caller): Promise<Stop | undefined> {
      const { breakers } = await read(connection);
      const name = [WHOLE, operation].find((one) => (breakers[one]?.until ?? 0) > 0);
      const breaker = name === undefined ? undefined : breakers[name];
      if (!breaker) return undefined;
      const now = clock();
      const { until, probedAt, prober } = breaker;
      const isWhole = name === WHOLE;
      // The probe of an operation may create something. Its prober sends the same bytes again, and may therefore probe
      // earlier.
      const dueAt = isWhole || prober === id ? until : callsProberAt(breaker);
      const isProbed = until === probedAt + PROBE_MS;
      const earlyAt = isOfPeople(lane) && !isProbed ? probedAt + EARLY_PROBE_MS : dueAt;
      const isSoon = Math.abs(until - now) <= WORTH_STAYING_MS;
      const lookAgainAt = (isSoon ? Math.max(until, now) : now) + LOOK_EVERY_MS * (0.1 + random());
      return {
        breaker,
        scope: isWhole ? { connection } : { connection, operation },
        mayProbeAt: Math.min(dueAt, earlyAt),
        ...((isSoon || (isProbed && now - probedAt <= WORTH_STAYING_MS)) && { lookAgainAt }),
        why: whyStopped(connection, isWhole ? WHOLE : operation, breaker),
      };
    },
    /** Claims the probe for a caller. @returns false if another caller probes */
    async claimProbe({ scope, breaker: seen }: Stop, caller: Caller): Promise<boolean> {
      const { connection, operation = WHOLE } = scope;
      const claimed = await change(connection, ({ breakers }, now) => {
        const last = breakers[operation];
        if (!last || last.until === 0 || last.probedAt !== seen.probedAt) return false;
        breakers[operation] = { ...last, probedAt: now, until: now + PROBE_MS, prober: caller.id };
        return true;
      });
      return claimed ?? false;
    },
    /**
     * Notes a failed call. Without an operation in the scope, this is the failed probe of a connection.
     * @returns the breakers that are now open, the connection's first
     */
    async failed({ connection, operation }: Scope, caller: Caller, failure: CallFailure): Promise<Scope[]> {
      const noted = await change(connection, (health, now) => {
        const { breakers } = health;
        const stopped: (Scope & { why: string })[] = [];
        const names = operation === undefined ? [WHOLE] : [WHOLE, operation];
        for (const name of names) {
          const last = breakers[name] ?? newBreaker(0);
          // A call that began before the breaker opened shows nothing new.
          if (last.until > 0 && last.prober !== caller.id) continue;
          const isWhole = name === WHOLE;
          // If only one operation refuses the key, the key is not the reason, because it works for the others.
          const seen = { ...failure, refusesKey: failure.refusesKey && isWhole };
          const next =
            last.until > 0
              ? afterProbe(last, caller.lane, isWhole, seen, now)
              : afterCall(last, caller.id, isWhole, seen, now);
          // Only a failed probe shows whether the connection or an operation is the cause.
          const isSure = next.probes > 0 && (isWhole || (breakers[WHOLE]?.probes ?? 0) === 0);
          const isNews = next.until > 0 && !next.told && isSure;
          if (isNews) stopped.push({ ...scopeOf(connection, name), why: whyStopped(connection, name, next) });
          breakers[name] = isNews ? { ...next, told: true } : next;
        }
        const open = names.filter((name) => (breakers[name]?.until ?? 0) > 0);
        health.lined = [...new Set([...health.lined, ...open.filter((name) => name !== WHOLE)])];
        return { open, stopped };
      });
      for (const stop of noted?.stopped ?? []) warn({ message: 'calls are stopped', ...stop });
      return (noted?.open ?? []).map((name) => scopeOf(connection, name));
    },
    /** Notes a call that shows nothing. If it was a probe, any other caller may probe immediately. */
    async toldNothing({ connection, operation }: Required<Scope>, { id }: Caller): Promise<void> {
      const wasProbe = await change(connection, ({ breakers }, now) => {
        const last = breakers[operation];
        if (!last || last.until === 0 || last.prober !== id) return false;
        breakers[operation] = { ...last, probedAt: now, until: now, prober: NO_PROBER };
        return true;
      });
      if (wasProbe) await recovered(connection);
    },
    /**
     * Notes a successful call. Writes only if something has failed since the last success.
     * @returns true if nothing of the connection is stopped now
     */
    async worked({ connection, operation = WHOLE }: Scope): Promise<boolean> {
      const became = await change(connection, (health, now) => {
        const { breakers, isLimited } = health;
        const isOpen = () => Object.values(breakers).some(({ until }) => until > 0);
        const whole = breakers[WHOLE];
        const isNews = (whole && whole.failures > 0) || (breakers[operation]?.failures ?? 0) > 0;
        if (!isNews && !isLimited) return { wasOpen: false, isOpen: isOpen(), again: [] };
        if (isLimited) Object.assign(health, { isLimited: false, servedAgain: health.servedAgain + 1 });
        // The operations failed because the connection was down, so their breakers close, too.
        const wasDown = (whole?.probes ?? 0) > 0;
        const names = wasDown ? [WHOLE, ...Object.keys(breakers)] : [WHOLE, operation];
        const wasOpen = names.some((name) => (breakers[name]?.until ?? 0) > 0);
        const again = names.filter((name) => breakers[name]?.told);
        for (const name of names) breakers[name] = newBreaker(now);
        return { wasOpen, isOpen: isOpen(), again };
      });
      // The connection stands for all operations that stopped with it, so only the first is reported.
      const [what] = became?.again ?? [];
      if (what !== undefined) warn({ message: 'calls are sent again', ...scopeOf(connection, what) });
      if (became?.wasOpen) await recovered(connection);
      return became?.isOpen === false;
    },
    /**
     * Notes that a caller's creation had worked by then, although its answer was lost. The call then counts as no
     * failure, and the operation's failures date from `by` at the earliest. An open breaker stays open, because other
     * answers may be lost, too.
     */
    async hadWorked({ connection, operation }: Required<Scope>, { id }: Caller, by: number): Promise<void> {
      await change(connection, ({ breakers }) => {
        for (const name of [WHOLE, operation]) {
          const last = breakers[name];
          if (!last || last.failures === 0 || last.since >= by) continue;
          const isOnlyThis = last.until === 0 && last.callers.every((caller) => caller === id);
          breakers[name] = isOnlyThis ? newBreaker(by) : { ...last, since: by };
        }
      });
    },
    /** Notes a 429. @returns a number that grows when a call of the connection succeeds after a 429 */
    async limited(connection: string): Promise<number> {
      const servedAgain = await change(connection, (health) => {
        health.isLimited = true;
        return health.servedAgain;
      });
      return servedAgain ?? 0;
    },
    /**
     * Returns the connection's breaker if it is open, and the operations with a waiting line, with their open breakers.
     */
    async lines(connection: string) {
      const { breakers, lined } = await read(connection);
      const openOf = (name: string) => ((breakers[name]?.until ?? 0) > 0 ? breakers[name] : undefined);
      const down = openOf(WHOLE);
      return {
        down,
        operations: lined.map((operation) => ({ operation, stopped: openOf(operation) })),
      };
    },
    /** Call this if the line of a working operation is empty. */
    async lineEnded(connection: string, operation: string): Promise<void> {
      await change(connection, (health, now) => {
        const { until = 0, workedAt = 0 } = health.breakers[operation] ?? {};
        if (until === 0 && workedAt + LATE_IN_LINE_MS <= now)
          health.lined = health.lined.filter((one) => one !== operation);
      });
    },
    /**
     * Closes all breakers of the connection, and calls `recovered`. Keeps the series of failures, because nothing has
     * worked yet.
     */
    async closeAll(connection: string): Promise<void> {
      await change(connection, ({ breakers }, now) => {
        for (const [name, last] of Object.entries(breakers)) {
          const { failures, ...goesOn } = last;
          const closed = { callers: [], until: 0, probes: 0, workedAt: now, failedAt: now };
          breakers[name] = { ...goesOn, ...closed, failures: Math.min(failures, 1) };
        }
      });
      await recovered(connection);
    },
  };
}

export function whyStopped(connection: string, name: string, { refusesKey, why }: Breaker): string {
  if (refusesKey) return `the service refuses the key of ${connection}: ${why}`;
  return `${name === WHOLE ? `${connection} is down` : `${name} fails on ${connection}`}: ${why}`;
}

/** True if the caller makes the next probe itself. */
export const probesAgain = ({ prober, probes }: Breaker, caller: string): boolean =>
  prober === caller && probes < OWN_PROBES;

/** Returns when the line calls a job for a probe. */
export function callsProberAt({ until, probes, probedAt, prober }: Breaker): number {
  const isProbed = until === probedAt + PROBE_MS;
  const isDoneByOther = prober !== NO_PROBER && (probes < OWN_PROBES || isProbed);
  return isDoneByOther ? until + LATE_PROBE_MS : until;
}

/** Returns when the line calls a person's job to probe a connection. The pause of other jobs does not apply. */
export const callsPersonAt = (breaker: Breaker): number =>
  Math.min(callsProberAt(breaker), breaker.probedAt + pauseOfPeople(breaker.probes, true));

const pauseOfPeople = (probes: number, isWhole: boolean): number =>
  PAUSE_OF_PEOPLE_MS[isWhole && probes <= MOST_OFTEN_PROBES ? 'connection' : 'operation'];

const scopeOf = (connection: string, name: string): Scope =>
  name === WHOLE ? { connection } : { connection, operation: name };

const newBreaker = (workedAt: number): Breaker => ({
  why: '',
  since: 0,
  failures: 0,
  callers: [],
  workedAt,
  until: 0,
  probes: 0,
  probedAt: 0,
  prober: '',
});

const isKept = ({ failures, workedAt }: Breaker, now: number) => failures > 0 || workedAt + FORGOTTEN_MS > now;

function afterCall(last: Breaker, caller: string, isWhole: boolean, failure: CallFailure, now: number): Breaker {
  const callers = [...new Set([...last.callers, caller])].slice(0, FAILURES_TO_OPEN);
  const failures = last.failures + 1;
  const isEnough = (isWhole ? failures : callers.length) >= FAILURES_TO_OPEN;
  // A probe costs less than further calls with a refused key.
  const opens = failure.refusesKey || (isEnough && last.workedAt + WORKED_LATELY_MS <= now);
  const isSame = last.kind === failure.kind && now - (last.failedAt ?? last.since) <= OF_ONE_CAUSE_MS;
  const since = last.failures > 0 && isSame ? last.since : now;
  // Until a probe fails too, the operation alone may be the cause.
  const refusesKey = failure.refusesKey && last.refusesKey === true;
  const next = { ...last, ...failure, refusesKey, since, failedAt: now, failures, callers };
  return opens ? { ...next, until: now + PAUSES_MS[0], probedAt: now, prober: caller } : next;
}

function afterProbe(last: Breaker, lane: Lane, isWhole: boolean, failure: CallFailure, now: number): Breaker {
  const probes = last.probes + 1;
  const pause = PAUSES_MS[probes] ?? LONGEST_PAUSE_MS;
  const longest = isOfPeople(lane) ? pauseOfPeople(probes, isWhole) : pause;
  // If an outage ends with a refused key, `since` begins with the refusal, because the outage had another cause.
  const since = failure.refusesKey === (last.refusesKey ?? false) ? last.since : now;
  return { ...last, ...failure, since, failures: last.failures + 1, probes, until: now + Math.min(pause, longest) };
}
