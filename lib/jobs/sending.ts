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
import { type Slots, withBudget } from './slots.ts';

/** Where a 429 has no Retry-After. */
const RATE_LIMIT_PAUSE_MS = 60_000;
/** A job that waits longer for an operation leaves the queue, so that its message does not hold back its entity. */
const LONGEST_WAIT_IN_QUEUE_MS = 30_000;

/** If a due probe has not been made after this long, no job waits for the operation. */
const PROBED_WITHIN_MS = 3 * 60_000;

export type CallNews =
  | { news: 'rate limited' }
  | { news: 'strangers wait'; who: readonly string[] }
  | { news: 'credentials refused'; reason: string }
  | { news: 'stopped'; what: string; why: string }
  | { news: 'breaker not closed'; error: unknown };

/** The right to make one call: its slot, and the breaker of its operation, which hears how the call went. */
export interface Turn {
  slot: Slot;
  breaker: Passage;
}

/** A failed send, read. */
export interface Failure {
  error: PartnerError;
  outcome: SendOutcome;
}

/** One send of a job: when it may leave, and what its outcome means for the operation, the connection and the job. */
export interface Sending {
  /**
   * Takes a slot once connection and operation may be called, after a probe of the connection where one is due.
   * @param first for resends and searches, which go ahead of other work
   * @throws {InLine | RetryAt} if the run cannot wait for it
   */
  takeTurn(operation: Operation, first: boolean): Promise<Turn>;
  /** Another slot for the same turn, to sign again. */
  takeSlotAgain(turn: Turn, first: boolean): Promise<Turn>;
  /** Sends within the slot, or within another one if the slot is too old by now. */
  send<D extends z.ZodType>(
    turn: Turn,
    first: boolean,
    call: () => Promise<Result<z.output<D>>>,
  ): Promise<Result<z.output<D>>>;
  /** @throws what is no error of the partner API */
  read(thrown: unknown): Failure;
  /**
   * Reports what a failed send tells about the operation and the connection.
   * @throws {InLine} if the connection turns out to be down
   */
  report(turn: Turn, failure: Failure): Promise<void>;
  /** Carries out a decision where no request is open, by throwing. */
  act(decision: Decision, failure: Failure): Promise<never>;
  /** Stops every job on the connection after a 429. @returns what the job that met it throws */
  pause(error: PartnerError): Promise<InLine>;
  /** @throws {RetryAt} while the operation's breaker is open, and others probe it */
  ensureWorks(operation: Operation): Promise<void>;
}

export interface SendingOptions {
  connection: Connection;
  lane: Lane;
  /** Who calls: a job's id. */
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

  /** Waits in place for a slot, within which the call leaves. */
  async function inSlot<T>(taken: Slot, first: boolean, call: () => Promise<T>): Promise<T> {
    let slot = taken;
    while (clock() > slot.goodUntil) {
      slot.giveUp();
      slots.ensureTimeForCall();
      slot = await slots.take(first);
    }
    const result = await call().catch(async (error) => {
      const neverSent = error instanceof PartnerUnanswered ? !error.sent : error instanceof PartnerPayloadError;
      if (neverSent) slot.giveUp();
      else if (error instanceof PartnerUnanswered) await withBudget(slot.unanswered(), clock);
      else if (error instanceof PartnerError && error.status !== null) slot.answered();
      throw error;
    });
    slot.answered();
    return result;
  }

  /**
   * Finds out whether the connection works, with a call that changes nothing: a creation could get lost in it.
   * @throws {InLine} if it is down, or another caller finds out
   */
  async function probe(whole: Passage): Promise<void> {
    const isOpen = whole.says === 'probe';
    if (!(await whole.claimProbe())) {
      // On a mere suspicion the connection counts as working until the other probe says otherwise.
      if (isOpen) throw waitForConnection(whole.wait());
      return;
    }
    for (let signedAgain = false; ; signedAgain = true) {
      const slot = await slots.take(true);
      const client = await connection.client();
      try {
        await inSlot(slot, true, () => client.call(connection.operation(validate), {}));
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
    return new RetryAt(until, why, { releasesQueueGroup: until - clock() > LONGEST_WAIT_IN_QUEUE_MS });
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
      const slot = await slots.take(first);
      if (breaker.says === 'probe' && !(await breaker.claimProbe())) {
        slot.giveUp();
        throw waitForOperation(breaker);
      }
      return { slot, breaker };
    },
    async takeSlotAgain({ breaker }, first) {
      slots.ensureTimeForCall();
      return { slot: await slots.take(first), breaker };
    },
    async send({ slot, breaker }, first, call) {
      const result = await inSlot(slot, first, call);
      // The answer counts, whatever becomes of the breaker: the next success closes it too.
      await breaker.worked().catch((error) => report({ news: 'breaker not closed', error }));
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
      // A second failure in a row may have more behind it than bad luck.
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
        // The others will hear it from the service, as this job has.
        if (!(error instanceof BudgetUnavailable)) throw error;
      });
      return waitForConnection({ until, why: 'the service wants fewer calls' });
    },
    async ensureWorks(operation) {
      const breaker = await breakerOf(operation);
      const isProbed = clock() < breaker.probeDueAt + PROBED_WITHIN_MS;
      if (breaker.says !== 'call' && isProbed) throw waitForOperation(breaker);
    },
  };
  return sending;
}

/** While its connection is paused or down, nothing else can be sent there either: the job stands in line. */
function waitForConnection({ until, why }: ReturnType<Passage['wait']>): InLine {
  return new InLine(why, until);
}
