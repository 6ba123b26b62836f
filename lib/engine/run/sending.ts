import type * as z from 'zod';
import type { Budget, Slot } from '../../service/budget/budget.ts';
import { BudgetUnavailable } from '../../service/budget/budget-store.ts';
import { isOfPeople, type Lane } from '../../service/budget/lanes.ts';
import { type Breakers, probesAgain, type Scope, type Stop } from '../../service/connection/breakers.ts';
import type { Connection } from '../../service/connection/connection.ts';
import type { Result } from '../../service/partner/answer.ts';
import { PartnerError, PartnerPayloadError, PartnerUnanswered } from '../../service/partner/errors.ts';
import type { Operation } from '../../service/partner/operation.ts';
import { validate } from '../../service/partner/validate.ts';
import { type Slots, withBudget } from '../line/slots.ts';
import { type Decision, decisions, outcomeOf, type SendOutcome } from '../record/decide.ts';
import type { WaitsFor } from '../record/history.ts';
import { InLine, type Interruption, NeedsOperator, Refused, RetryAt, StepFailed } from '../record/interruption.ts';
import type { Limited } from '../record/job.ts';
import { howItEnded, type Send, type SendLog } from '../record/sends.ts';

/** The pause after a 429 if the budget cannot be written. */
const UNKNOWN_PAUSE_MS = 60_000;
/** A job that waits longer for an operation leaves the queue, so that its message does not block its entity. */
const LONGEST_WAIT_IN_QUEUE_MS = 30_000;

/** If a due probe has not been made after this long, no job waits for the operation. */
const PROBED_WITHIN_MS = 3 * 60_000;
/** A search that waits for an operation looks this long after its probe is due. */
const AFTER_PROBE_MS = 10_000;
/** A person's call may probe this long after the last probe, if the next one would keep them waiting for longer. */
const EARLY_PROBE_MS = 10_000;
const LONG_FOR_PEOPLE_MS = 60_000;

/** A job that alone meets 429 is parked after this many times, if they are spread over this long. */
const LIMITED_TIMES = 8;
const LIMITED_FOR_MS = 30 * 60_000;
/** A job that meets 429 again lets others go first after the pause. */
const BEHIND_OTHERS_MS = 15_000;
/** The pauses between them double, from the first to the longest. */
const FIRST_LIMITED_PAUSE_MS = 60_000;
const LONGEST_LIMITED_PAUSE_MS = 6 * 60_000;

export type CallNews =
  | { news: 'rate limited' }
  | { news: 'strangers wait'; who: readonly string[] }
  | { news: 'credentials refused'; reason: string }
  | { news: 'stopped'; what: string; why: string }
  | { news: 'breaker not closed'; error: unknown };

/** A slot, and how long the call waited for it. Epoch milliseconds. */
interface TakenSlot {
  slot: Slot;
  askedAt: number;
  grantedAt: number;
}

/** The right to make one call of an operation. */
export interface Turn extends TakenSlot {
  operation: string;
}

/** How a call is sent and noted. */
export interface SendOptions {
  /** True for resends and searches, which go ahead of other work. */
  first: boolean;
  /** Gets the send; undefined if no step sends it. */
  log?: SendLog | undefined;
  /** What the log gets besides the times and the outcome. */
  as?: Pick<Send, 'calls' | 'sameBytes'>;
}

/** A failed send and its interpretation. */
export interface Failure {
  error: PartnerError;
  outcome: SendOutcome;
}

/** A job's sends: when a call may leave, and what its outcome means for the operation, the connection and the job. */
export interface Sending {
  /**
   * Takes a slot once the connection and the operation may be called. Probes the connection first if a probe is due.
   * @param first true for resends and searches, which go ahead of other work
   * @throws {InLine | RetryAt} if the run cannot wait for it
   */
  takeTurn(operation: Operation, first: boolean): Promise<Turn>;
  /** Takes another slot in the same turn, to sign again. */
  takeSlotAgain(turn: Turn, first: boolean): Promise<Turn>;
  /** Sends within the slot, or within a new one if the slot is too old. */
  send<D extends z.ZodType>(
    turn: Turn,
    options: SendOptions,
    call: () => Promise<Result<z.output<D>>>,
  ): Promise<Result<z.output<D>>>;
  /** @throws any error that is not from the partner API */
  read(thrown: unknown): Failure;
  /**
   * Reports what a failed send shows about the operation and the connection.
   * @throws {InLine} if the connection turns out to be down
   */
  report(turn: Turn, failure: Failure): Promise<void>;
  /** Applies a decision by throwing. For use when no request is open. */
  act(decision: Decision, failure: Failure): Promise<never>;
  /**
   * Stops every job on the connection after a 429, or only this one if the service takes calls of others.
   * @returns the error for the current job to throw
   */
  pause(error: PartnerError): Promise<Interruption>;
  /** @throws {RetryAt} while the operation's breaker is open and other callers probe it */
  ensureWorks(operation: Operation): Promise<void>;
  limited(): Limited | undefined;
}

export interface SendingOptions {
  connection: Connection;
  lane: Lane;
  /** The caller: a job's id. */
  caller: string;
  /** What the job's earlier runs met. */
  limited?: Limited | undefined;
  budget: Budget;
  breakers: Breakers;
  slots: Slots;
  clock: () => number;
  report: (news: CallNews) => void;
}

export function createSending(options: SendingOptions): Sending {
  const { connection, lane, caller, budget, breakers, slots, clock, report } = options;
  const { name } = connection;
  let { limited } = options;
  const me = { id: caller, lane };
  const stopOf = (operation: string) => breakers.stopOf({ connection: name, operation }, me);

  async function takeSlot(first: boolean): Promise<TakenSlot> {
    const askedAt = clock();
    const slot = await slots.take(first);
    return { slot, askedAt, grantedAt: clock() };
  }

  /** Waits in place for a slot for the call. */
  async function inSlot<T extends Result<unknown>>(
    taken: TakenSlot,
    { first, log, as }: SendOptions,
    call: () => Promise<T>,
  ): Promise<T> {
    let { slot, askedAt, grantedAt } = taken;
    while (clock() > slot.goodUntil) {
      slot.giveUp();
      slots.ensureTimeForCall();
      ({ slot, askedAt, grantedAt } = await takeSlot(first));
    }
    const sentAt = clock();
    const note = (how: Pick<Send, 'came' | 'status' | 'why'>) =>
      log?.add({ ...as, askedAt, grantedAt, sentAt, endedAt: clock(), ...how });
    const result = await call().catch(async (error) => {
      const ended = howItEnded(error);
      if (ended) note(ended);
      const neverSent = error instanceof PartnerUnanswered ? !error.sent : error instanceof PartnerPayloadError;
      if (neverSent) slot.giveUp();
      else if (error instanceof PartnerUnanswered) await withBudget(slot.unanswered(), clock);
      else if (error instanceof PartnerError && error.status !== null) slot.answered();
      throw error;
    });
    note({ came: 'accepted', status: result.status });
    slot.answered();
    return result;
  }

  /**
   * Checks whether the connection works with a call that changes nothing. The answer to a creation could get lost.
   * @throws {InLine | RetryAt} if it does not
   */
  async function probe(stop: Stop): Promise<void> {
    let taken = await takeSlot(true);
    if (!(await breakers.claimProbe(stop, me))) return taken.slot.giveUp();
    for (let signedAgain = false; ; signedAgain = true) {
      const client = await connection.client();
      try {
        await inSlot(taken, { first: true }, () => client.call(connection.operation(validate), {}));
        return await breakers.worked({ connection: name });
      } catch (thrown) {
        const { error, outcome } = sending.read(thrown);
        const { repeatable, evidence } = decisions[outcome];
        if (repeatable === 'wait for budget') throw await sending.pause(error);
        if (repeatable === 'sign again' && !signedAgain) {
          taken = await takeSlot(true);
          continue;
        }
        if (evidence !== 'fails') return await breakers.worked({ connection: name });
        return await noteFailure({ connection: name }, error);
      }
    }
  }

  /** @throws {InLine | RetryAt} if the connection is down */
  async function noteFailure(scope: Scope, { message }: PartnerError): Promise<void> {
    const open = await breakers.failed(scope, me, message);
    for (const { operation = `the connection ${name}` } of open)
      report({ news: 'stopped', what: operation, why: message });
    const isDown = open.some(({ operation }) => operation === undefined);
    const stop = isDown ? await stopOf(scope.operation ?? validate.name) : undefined;
    if (!stop) return;
    if (!stop.mayProbe) throw waitingFor(stop, false);
    slots.ensureTimeForCall();
    await probe(stop);
  }

  /**
   * What a job does that may not call now. Those that wait stand in line and are called, except for the next prober and
   * for the few that have to ask again: a person who may probe before the pause is over, and a resend.
   */
  function waitingFor({ scope: { operation }, breaker, why }: Stop, first: boolean): InLine | RetryAt {
    const { until, probedAt } = breaker;
    const asksAgain = probesAgain(breaker, caller) || (first && operation !== undefined);
    if (asksAgain) return retryAt(until, why);
    const isLong = isOfPeople(lane) && until - clock() > LONG_FOR_PEOPLE_MS;
    return isLong ? retryAt(probedAt + EARLY_PROBE_MS, why) : new InLine(why, until, 'outage', operation);
  }

  function retryAt(at: number, why: string, waitsFor: WaitsFor = 'outage'): RetryAt {
    return new RetryAt(at, why, { releasesQueueGroup: at - clock() > LONGEST_WAIT_IN_QUEUE_MS, waitsFor });
  }

  /** How long a job waits that alone meets 429; it parks in the end. */
  function waitingAlone({ times, since }: Limited, { message }: PartnerError, askedMs = 0): Interruption {
    const now = clock();
    if (times >= LIMITED_TIMES && now - since >= LIMITED_FOR_MS) {
      const minutes = Math.round((now - since) / 60_000);
      return new NeedsOperator(`${message}, ${times} times in ${minutes} minutes, while it took other calls`);
    }
    const pause = Math.min(FIRST_LIMITED_PAUSE_MS * 2 ** (times - 1), LONGEST_LIMITED_PAUSE_MS);
    return retryAt(
      now + Math.max(askedMs, pause),
      'the service takes other calls, and wants no more of this one',
      'budget',
    );
  }

  const sending: Sending = {
    async takeTurn({ name: operation }, first) {
      for (;;) {
        slots.ensureTimeForCall();
        const stop = await stopOf(operation);
        if (!stop) return { ...(await takeSlot(first)), operation };
        if (stop.mayProbe && stop.scope.operation === undefined) await probe(stop);
        else if (stop.mayProbe) {
          const taken = await takeSlot(first);
          if (await breakers.claimProbe(stop, me)) return { ...taken, operation };
          taken.slot.giveUp();
        } else if (stop.lookAgainAt !== undefined) await slots.pauseUntil(stop.lookAgainAt, stop.why, 'outage');
        else throw waitingFor(stop, first);
      }
    },
    async takeSlotAgain({ operation }, first) {
      slots.ensureTimeForCall();
      return { ...(await takeSlot(first)), operation };
    },
    async send(turn, options, call) {
      const result = await inSlot(turn, options, call);
      const { operation } = turn;
      if (limited?.operation === operation) limited = undefined;
      // The answer counts even if the breaker cannot be closed. The next success closes it too.
      await breakers
        .worked({ connection: name, operation })
        .catch((error) => report({ news: 'breaker not closed', error }));
      return result;
    },
    read(error) {
      if (!(error instanceof PartnerError)) throw error;
      const outcome = outcomeOf(error);
      if (outcome === 'unauthorized') connection.suspectKey();
      if (outcome === 'invalid signature' || outcome === 'unknown or revoked key') {
        connection.suspectKey();
        report({ news: 'credentials refused', reason: outcome });
      }
      return { error, outcome };
    },
    async report({ operation }, { error, outcome }) {
      const { evidence } = decisions[outcome];
      if (evidence === 'works') await breakers.worked({ connection: name, operation });
      if (evidence === 'nothing') await breakers.toldNothing({ connection: name, operation }, me);
      if (evidence === 'fails') await noteFailure({ connection: name, operation }, error);
    },
    async act(decision, { error }) {
      if (decision === 'wait for budget') throw await sending.pause(error);
      if (decision === 'park') throw new Refused(error);
      throw new StepFailed(error.message, { cause: error });
    },
    async pause(error) {
      report({ news: 'rate limited' });
      const { operation, retryAfterSeconds } = error;
      const asked = retryAfterSeconds === null ? undefined : retryAfterSeconds * 1000;
      const served = await breakers.limited(name);
      const isFirst = limited?.operation !== operation;
      const before = limited && !isFirst ? limited : { operation, times: 0, since: clock(), served };
      const isAlone = served > before.served;
      limited = { ...before, times: before.times + (isAlone ? 1 : 0), served };
      if (isAlone) return waitingAlone(limited, error, asked);
      const until = await budget.pause(name, connection.limits, asked).catch((error) => {
        // Other jobs will get their own 429 from the service.
        if (!(error instanceof BudgetUnavailable)) throw error;
        return clock() + (asked ?? UNKNOWN_PAUSE_MS);
      });
      const why = 'the service wants fewer calls';
      // If it went first again, no other call could show that the service takes others.
      return isFirst ? new InLine(why, until) : retryAt(until + BEHIND_OTHERS_MS, why, 'budget');
    },
    async ensureWorks({ name: operation }) {
      const stop = await stopOf(operation);
      if (!stop?.scope.operation) return;
      const { until } = stop.breaker;
      if (clock() < until + PROBED_WITHIN_MS) throw retryAt(Math.max(until, clock()) + AFTER_PROBE_MS, stop.why);
    },
    limited: () => limited,
  };
  return sending;
}
