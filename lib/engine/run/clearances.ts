import { decisions, type SendOutcome } from '../../decide.ts';
import type { TakenSlot } from '../../service/budget/gate.ts';
import { isOfPeople } from '../../service/budget/lanes.ts';
import type { Breaker } from '../../service/connection/breaker-item.ts';
import { EARLY_PROBE_MS, probesAgain, type Scope, type Stop } from '../../service/connection/breakers.ts';
import { PartnerError } from '../../service/partner/errors.ts';
import type { Operation } from '../../service/partner/operation.ts';
import { validate } from '../../service/partner/validate.ts';
import type { CallingRun } from '../line/calling-run.ts';
import { comeBackAt, type Pauses } from '../line/pauses.ts';
import type { Slots } from '../line/slots.ts';
import type { WaitsFor } from '../record/history.ts';
import { InLine, type RetryAt } from '../record/interruption.ts';
import { outcomeOf } from '../record/outcome.ts';
import type { RateLimits } from './rate-limits.ts';

/** If a due probe has not been made after this long, no job waits for the operation. */
const PROBED_WITHIN_MS = 3 * 60_000;
/** A search that waits for an operation looks this long after its probe is due. */
const AFTER_PROBE_MS = 10_000;
/** A person's job that would wait for longer comes back to probe early. */
const LONG_FOR_PEOPLE_MS = 60_000;

/** What is said about a refused key, until an operator enters another one. */
const REFUSES_KEY: ReadonlySet<SendOutcome> = new Set(['unknown or revoked key', 'unauthorized']);

/** The right to make one call of an operation. */
export interface Clearance extends TakenSlot {
  operation: string;
}

/** A failed send and its interpretation. */
export interface Failure {
  error: PartnerError;
  outcome: SendOutcome;
}

/** When a job's calls may leave, as far as the connection and its operations work. */
export interface Clearances {
  /**
   * Takes a slot once the connection and the operation may be called. Probes the connection first if a probe is due.
   * @param urgent true for resends and searches, which go ahead of other work
   * @throws {InLine | RetryAt} if the run cannot wait for it
   */
  take(operation: Operation, urgent: boolean): Promise<Clearance>;
  /** Takes another slot for the same call, to sign again. */
  takeAgain(clearance: Clearance): Promise<Clearance>;
  /** Reads what a send threw. @throws any error that is not from the partner API */
  read(thrown: unknown): Failure;
  /**
   * Notes what a failed send shows about the operation and the connection.
   * @throws {InLine} if the connection turns out to be down
   */
  failed(clearance: Clearance, failure: Failure): Promise<void>;
  /** @throws {RetryAt} while the operation's breaker is open and other callers probe it */
  ensureWorks(operation: Operation): Promise<void>;
}

export function createClearances(run: CallingRun, slots: Slots, pauses: Pauses, rateLimits: RateLimits): Clearances {
  const { connection, lane, caller, breakers, clock, report } = run;
  const { name } = connection;
  const me = { id: caller, lane };
  const stopOf = (operation: string) => breakers.stopOf({ connection: name, operation }, me);

  function read(error: unknown): Failure {
    if (!(error instanceof PartnerError)) throw error;
    const outcome = outcomeOf(error);
    if (outcome === 'unauthorized') connection.suspectKey();
    if (outcome === 'invalid signature' || outcome === 'unknown or revoked key') {
      connection.suspectKey();
      report({ news: 'credentials refused', reason: outcome });
    }
    return { error, outcome };
  }

  /**
   * Checks whether the connection works with a call that changes nothing. The answer to a creation could get lost.
   * @throws {InLine | RetryAt} if it does not
   */
  async function probe(stop: Stop): Promise<void> {
    let taken = await slots.take(true);
    if (!(await breakers.claimProbe(stop, me))) return taken.slot.giveUp();
    for (let signedAgain = false; ; signedAgain = true) {
      try {
        await slots.send(taken, async () => {
          const client = await connection.client();
          return () => client.call(connection.operation(validate), {});
        });
        return await breakers.worked({ connection: name });
      } catch (thrown) {
        const { error, outcome } = read(thrown);
        const { repeatable, evidence } = decisions[outcome];
        if (repeatable === 'wait for budget') throw await rateLimits.met(error, false);
        if (repeatable === 'sign again' && !signedAgain) {
          taken = await slots.take(true);
          continue;
        }
        if (evidence !== 'fails') return await breakers.worked({ connection: name });
        return await noteFailure({ connection: name }, { error, outcome });
      }
    }
  }

  /** @throws {InLine | RetryAt} if the connection is down */
  async function noteFailure(scope: Scope, { error: { message }, outcome }: Failure): Promise<void> {
    const open = await breakers.failed(scope, me, { why: message, refusesKey: REFUSES_KEY.has(outcome) });
    for (const { operation = `the connection ${name}` } of open)
      report({ news: 'stopped', what: operation, why: message });
    const isDown = open.some(({ operation }) => operation === undefined);
    const stop = isDown ? await stopOf(scope.operation ?? validate.name) : undefined;
    if (!stop) return;
    if (!stop.mayProbe) throw waitingFor(stop, false);
    await probe(stop);
  }

  /**
   * What a job does that may not call now. It stands in line and is called, with three exceptions that come back by
   * themselves: the next prober, a resend, and a person who may probe before the pause is over.
   */
  function waitingFor({ scope: { operation }, breaker, why }: Stop, urgent: boolean): InLine | RetryAt {
    const { until, probedAt } = breaker;
    const waitsFor = waitsForOf(breaker);
    const asksAgain = probesAgain(breaker, caller) || (urgent && operation !== undefined);
    if (asksAgain) return comeBackAt(until, clock(), why, waitsFor);
    const isLong = isOfPeople(lane) && until - clock() > LONG_FOR_PEOPLE_MS;
    return isLong
      ? comeBackAt(probedAt + EARLY_PROBE_MS, clock(), why, waitsFor)
      : new InLine(why, until, waitsFor, operation);
  }

  return {
    read,
    async take({ name: operation }, urgent) {
      for (;;) {
        pauses.ensureTimeForCall();
        const stop = await stopOf(operation);
        if (!stop) return { ...(await slots.take(urgent)), operation };
        if (stop.mayProbe && stop.scope.operation === undefined) await probe(stop);
        else if (stop.mayProbe) {
          const taken = await slots.take(urgent);
          if (await breakers.claimProbe(stop, me)) return { ...taken, operation };
          taken.slot.giveUp();
        } else if (stop.lookAgainAt !== undefined)
          await pauses.until(stop.lookAgainAt, stop.why, waitsForOf(stop.breaker));
        else throw waitingFor(stop, urgent);
      }
    },
    takeAgain: async ({ operation, urgent }) => ({ ...(await slots.take(urgent)), operation }),
    async failed({ operation }, { error, outcome }) {
      const { evidence } = decisions[outcome];
      if (evidence === 'works') await breakers.worked({ connection: name, operation });
      if (evidence === 'nothing') await breakers.toldNothing({ connection: name, operation }, me);
      if (evidence === 'fails') await noteFailure({ connection: name, operation }, { error, outcome });
    },
    async ensureWorks({ name: operation }) {
      const stop = await stopOf(operation);
      if (!stop?.scope.operation) return;
      const { until } = stop.breaker;
      const now = clock();
      if (now < until + PROBED_WITHIN_MS)
        throw comeBackAt(Math.max(until, now) + AFTER_PROBE_MS, now, stop.why, waitsForOf(stop.breaker));
    },
  };
}

const waitsForOf = ({ refusesKey }: Breaker): WaitsFor => (refusesKey ? 'key' : 'outage');
