import type * as z from 'zod';
import type { Budget, Slot } from '../budget/budget.ts';
import { BudgetUnavailable } from '../budget/budget-store.ts';
import type { Lane } from '../budget/lanes.ts';
import type { Breakers, Passage } from '../connection/breakers.ts';
import type { Connection } from '../connection/connection.ts';
import type { Result } from '../partner/answer.ts';
import { PartnerError, PartnerPayloadError, PartnerUnanswered } from '../partner/errors.ts';
import type { Operation } from '../partner/operation.ts';
import { validate } from '../partner/validate.ts';
import { type Decision, decisions, outcomeOf, type SendOutcome } from './decide.ts';
import { InLine, Refused, RetryAt, StepFailed } from './interruption.ts';
import { howItEnded, type Send, type SendLog } from './sends.ts';
import { type Slots, withBudget } from './slots.ts';

/** The pause for a 429 without a Retry-After. */
const RATE_LIMIT_PAUSE_MS = 60_000;
/** A job that waits longer for an operation leaves the queue, so that its message does not block its entity. */
const LONGEST_WAIT_IN_QUEUE_MS = 30_000;

/** If a due probe has not been made after this long, no job waits for the operation. */
const PROBED_WITHIN_MS = 3 * 60_000;

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

/** The right to make one call: its slot, and the breaker of its operation, which gets the result. */
export interface Turn extends TakenSlot {
  breaker: Passage;
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
  /** Stops every job on the connection after a 429. @returns the error for the current job to throw */
  pause(error: PartnerError): Promise<InLine>;
  /** @throws {RetryAt} while the operation's breaker is open and another caller probes it */
  ensureWorks(operation: Operation): Promise<void>;
}

export interface SendingOptions {
  connection: Connection;
  lane: Lane;
  /** The caller: a job's id. */
  caller: string;
  budget: Budget;
  breakers: Breakers;
  slots: Slots;
  clock: () => number;
  report: (news: CallNews) => void;
}

export function createSending(options: SendingOptions): Sending {
  const { connection, lane, caller, budget, breakers, slots, clock, report } = options;
  const { name } = connection;
  const breakerOf = ({ name: operation }: Operation) => breakers.at({ connection: name, operation }, lane);

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
   * @throws {InLine} if it is down, or another caller is probing it
   */
  async function probe(whole: Passage): Promise<void> {
    const isOpen = whole.says === 'probe';
    if (!(await whole.claimProbe())) {
      // If there is only a suspicion, the connection counts as working until the other probe fails.
      if (isOpen) throw waitForConnection(whole.wait());
      return;
    }
    for (let signedAgain = false; ; signedAgain = true) {
      const slot = await takeSlot(true);
      const client = await connection.client();
      try {
        await inSlot(slot, { first: true }, () => client.call(connection.operation(validate), {}));
        return await whole.worked();
      } catch (thrown) {
        const { error, outcome } = sending.read(thrown);
        const { repeatable, evidence } = decisions[outcome];
        if (repeatable === 'wait for budget') throw await sending.pause(error);
        if (repeatable === 'sign again' && !signedAgain) continue;
        if (evidence === 'works' || evidence === 'nothing') return await whole.worked();
        await whole.failed(caller, error.message);
        report({ news: 'stopped', what: `the connection ${name}`, why: error.message });
        throw waitForConnection(whole.wait());
      }
    }
  }

  /** Probes the connection on the suspicion that it is down. */
  async function ensureConnectionWorks(): Promise<void> {
    slots.ensureTimeForCall();
    const whole = await breakers.at({ connection: name }, lane);
    if (whole.says === 'wait') throw waitForConnection(whole.wait());
    await probe(whole);
  }

  function waitForOperation(breaker: Passage): RetryAt {
    const { until, why } = breaker.wait();
    return new RetryAt(until, why, {
      releasesQueueGroup: until - clock() > LONGEST_WAIT_IN_QUEUE_MS,
      waitsFor: 'outage',
    });
  }

  const sending: Sending = {
    async takeTurn(operation, first) {
      slots.ensureTimeForCall();
      let [whole, breaker] = await Promise.all([breakers.at({ connection: name }, lane), breakerOf(operation)]);
      if (whole.says === 'wait') throw waitForConnection(whole.wait());
      if (whole.says === 'probe') {
        await probe(whole);
        breaker = await breakerOf(operation);
      }
      if (breaker.says === 'wait') throw waitForOperation(breaker);
      const taken = await takeSlot(first);
      if (breaker.says === 'probe' && !(await breaker.claimProbe())) {
        taken.slot.giveUp();
        throw waitForOperation(breaker);
      }
      return { ...taken, breaker };
    },
    async takeSlotAgain({ breaker }, first) {
      slots.ensureTimeForCall();
      return { ...(await takeSlot(first)), breaker };
    },
    async send(turn, options, call) {
      const result = await inSlot(turn, options, call);
      // The answer counts even if the breaker cannot be closed. The next success closes it too.
      await turn.breaker.worked().catch((error) => report({ news: 'breaker not closed', error }));
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
    async report({ breaker }, { error, outcome }) {
      const { evidence } = decisions[outcome];
      if (evidence === 'works') return breaker.worked();
      if (evidence === 'nothing') return;
      if (evidence === 'connection may be down') await ensureConnectionWorks();
      const row = await breaker.failed(caller, error.message);
      if (row === 'open') report({ news: 'stopped', what: error.operation, why: error.message });
      // A second consecutive failure may mean more than a temporary problem.
      if (row !== 'first' && evidence === 'operation fails') await ensureConnectionWorks();
    },
    async act(decision, { error }) {
      if (decision === 'wait for budget') throw await sending.pause(error);
      if (decision === 'park') throw new Refused(error);
      throw new StepFailed(error.message, { cause: error });
    },
    async pause(error) {
      report({ news: 'rate limited' });
      const { retryAfterSeconds } = error;
      const until = clock() + (retryAfterSeconds === null ? RATE_LIMIT_PAUSE_MS : retryAfterSeconds * 1000);
      await budget.pause(name, until).catch((error) => {
        // Other jobs will get their own 429 from the service.
        if (!(error instanceof BudgetUnavailable)) throw error;
      });
      return new InLine('the service wants fewer calls', until);
    },
    async ensureWorks(operation) {
      const breaker = await breakerOf(operation);
      const isProbed = clock() < breaker.probeDueAt + PROBED_WITHIN_MS;
      if (breaker.says !== 'call' && isProbed) throw waitForOperation(breaker);
    },
  };
  return sending;
}

/** While its connection is down, nothing can be sent there, so the job waits in line. */
function waitForConnection({ until, why }: ReturnType<Passage['wait']>): InLine {
  return new InLine(why, until, 'outage');
}
