import type * as z from 'zod';
import { type Decision, decisions, isRefusal, type SendOutcome } from '../../decide.ts';
import { type Mark, sendOnce } from '../../send-once.ts';
import { BudgetUnavailable } from '../../service/budget/budget-store.ts';
import type { TakenSlot } from '../../service/budget/gate.ts';
import { isOfPeople } from '../../service/budget/lanes.ts';
import type { Breaker } from '../../service/connection/breaker-item.ts';
import {
  type Breakers,
  EARLY_PROBE_MS,
  probesAgain,
  type Scope,
  type Stop,
} from '../../service/connection/breakers.ts';
import type { Result } from '../../service/partner/answer.ts';
import type { PartnerClient } from '../../service/partner/client.ts';
import { PartnerError } from '../../service/partner/errors.ts';
import type { Operation } from '../../service/partner/operation.ts';
import { validate } from '../../service/partner/operation.ts';
import type { WaitsFor } from '../record/history.ts';
import { InLine, type Interruption, Refused, RetryAt, StepFailed } from '../record/interruption.ts';
import type { Limited } from '../record/job.ts';
import { howItEnded, outcomeOf, type Send, type SendLog } from '../record/sends.ts';
import { comeBackAt, createPauses } from './pauses.ts';
import { createSlots, type SlotsOptions, type StrangersWait } from './slots.ts';

/** If a due probe has not been made after this long, then no job waits for the operation. */
const PROBED_WITHIN_MS = 3 * 60_000;
/** How long after the due time of the operation's probe a waiting search looks again. */
const AFTER_PROBE_MS = 10_000;
/** A person's job with a longer wait than this returns earlier, to probe. */
const LONG_FOR_PEOPLE_MS = 60_000;
/** The pause after a 429 without a Retry-After, if the budget cannot be written or only this call waits. */
const UNKNOWN_PAUSE_MS = 60_000;
/**
 * How long before the end of a pause a resend returns: before the jobs that the line calls (LEAD_MS in
 * ../line/waiting-line.ts). It then waits in place.
 */
const BACK_BEFORE_MS = 8_000;
/** How long after the pause a job returns that met 429 again, so that other jobs go first. */
const BEHIND_OTHERS_MS = 15_000;

/** The service's answers to a refused key, until an operator enters another one. */
const REFUSES_KEY: ReadonlySet<SendOutcome> = new Set(['unknown or revoked key', 'unauthorized']);

/** The part of a job's run that its calls to the partner API need. */
export interface CallingRun extends SlotsOptions {
  /** The job's id. */
  caller: string;
  /** The last 429 of the job's earlier runs. */
  limited?: Limited | undefined;
  breakers: Pick<Breakers, 'stopOf' | 'claimProbe' | 'failed' | 'toldNothing' | 'worked' | 'hadWorked' | 'limited'>;
  report: (news: CallNews) => void;
}

export type CallNews =
  | { news: 'rate limited' }
  | StrangersWait
  | { news: 'credentials refused'; reason: string }
  | { news: 'breaker not closed'; error: unknown };

/** The right to make one call of an operation. */
export interface Clearance extends TakenSlot {
  operation: string;
}

/** A failed send and its interpretation. */
export interface Failure {
  error: PartnerError;
  outcome: SendOutcome;
}

export interface Noted {
  /** Gets the send; undefined if no step sends it. */
  log?: SendLog | undefined;
  /** Fields for the log, in addition to the times and the outcome. */
  as?: Pick<Send, 'calls' | 'sameBytes'>;
}

/** Writes that a request may have left. Returns the function that sends it. */
export type RequestMark<D extends z.ZodType> = Mark<void, () => Promise<Result<z.output<D>>>>;

export type PartnerSent<D extends z.ZodType> =
  | { became: 'accepted'; result: Result<z.output<D>> }
  | { became: 'not carried out' | 'open'; failure: Failure };

/** Keeps an earlier call from arriving after a later one. */
export interface Fence {
  /**
   * Called right before a request leaves. It may arrive until its signature ends. @returns false if it must not be sent
   */
  begin(): Promise<boolean>;
  /** Called if the request was not carried out, and no send of this call can arrive any more. */
  cancel(): Promise<void>;
}

export type PartnerCalls = ReturnType<typeof createPartnerCalls>;

/**
 * A job's calls to the partner API. Order of each call: the connection and the operation work, the budget has a slot
 * (slots.ts), the mark is written, the slot is still good, the request leaves. The answer goes to the breakers and the
 * budget, and `decisions` of decide.ts says how the job continues.
 */
export function createPartnerCalls(run: CallingRun) {
  const { connection, lane, caller, budget, breakers, clock, report } = run;
  const { name, limits } = connection;
  const pauses = createPauses(run, connection.timeoutMs);
  const slots = createSlots(run, pauses);
  const me = { id: caller, lane };
  let { limited } = run;
  /**
   * True if nothing was stopped right after the last call. Saves the next call one read. If something stopped since,
   * the next call is as harmless as one sent a moment earlier.
   */
  let worksStill = false;

  const stopOf = (operation: string) => breakers.stopOf({ connection: name, operation }, me);

  /**
   * Takes a slot when the connection and the operation may be called. First probes the connection if a probe is due.
   * @param urgent true for resends and searches, which go ahead of other work
   * @throws {InLine | RetryAt} if the run cannot wait
   */
  async function take({ name: operation }: Operation, urgent: boolean): Promise<Clearance> {
    for (;;) {
      pauses.ensureTimeForCall();
      const stop = worksStill ? undefined : await stopOf(operation);
      worksStill = false;
      if (!stop) return { ...(await slots.take(urgent)), operation };
      const mayProbe = stop.mayProbeAt <= clock();
      if (mayProbe && stop.scope.operation === undefined) await probe(stop);
      else if (mayProbe) {
        const taken = await slots.take(urgent);
        if (await breakers.claimProbe(stop, me)) return { ...taken, operation };
        taken.slot.giveUp();
      } else if (stop.lookAgainAt !== undefined)
        await pauses.until(stop.lookAgainAt, stop.why, waitsForOf(stop.breaker));
      else throw waitingFor(stop, urgent);
    }
  }

  /** Takes another slot for the same call, to sign again. */
  async function takeAgain({ operation, urgent }: Clearance): Promise<Clearance> {
    return { ...(await slots.take(urgent)), operation };
  }

  /**
   * Sends one request, in the slot of its clearance.
   * @param wasOpen true if an earlier send may be carried out
   * @throws any error that is not from the partner API
   */
  async function send<D extends z.ZodType>(
    clearance: Clearance,
    mark: RequestMark<D>,
    { wasOpen, ...noted }: Noted & { wasOpen: boolean },
  ): Promise<PartnerSent<D>> {
    const sent = await sendOnce(mark, wasOpen, ({ mayLeave, leaves, refused }) =>
      slots.send(clearance, async () => {
        const call = await mayLeave();
        return (taken) => {
          leaves();
          return inLog(call, taken, noted).catch((error) => {
            if (error instanceof PartnerError && isRefusal(outcomeOf(error))) refused();
            throw error;
          });
        };
      }),
    );
    if (sent.became !== 'accepted') return { became: sent.became, failure: read(sent.error) };
    const { operation } = clearance;
    if (limited?.operation === operation) limited = undefined;
    // The answer counts even if the breaker cannot be closed. The next success closes it, too.
    worksStill = await breakers.worked({ connection: name, operation }).catch((error) => {
      report({ news: 'breaker not closed', error });
      return false;
    });
    return sent;
  }

  async function inLog<T extends Result<unknown>>(
    call: () => Promise<T>,
    { askedAt, grantedAt }: Pick<Send, 'askedAt' | 'grantedAt'>,
    { log, as }: Noted,
  ): Promise<T> {
    const sentAt = clock();
    const note = (how: Pick<Send, 'came' | 'status' | 'why'>) =>
      log?.add({ ...as, askedAt, grantedAt, sentAt, endedAt: clock(), ...how });
    try {
      const result = await call();
      note({ came: 'accepted', status: result.status });
      return result;
    } catch (error) {
      const ended = howItEnded(error);
      if (ended) note(ended);
      throw error;
    }
  }

  /** Returns the error of a send with its outcome. @throws any error that is not from the partner API */
  function read(error: unknown): Failure {
    if (!(error instanceof PartnerError)) throw error;
    const outcome = outcomeOf(error);
    // The key may have been replaced, or the base URL corrected.
    if (outcome === 'invalid signature' || outcome === 'unreadable' || REFUSES_KEY.has(outcome))
      connection.suspectKey();
    if (outcome === 'invalid signature' || outcome === 'unknown or revoked key')
      report({ news: 'credentials refused', reason: outcome });
    return { error, outcome };
  }

  /**
   * Tells the breakers what a failed send shows about the operation and the connection.
   * @throws {InLine} if the connection turns out to be down
   */
  async function failed({ operation }: Clearance, failure: Failure): Promise<void> {
    const { evidence } = decisions[failure.outcome];
    if (evidence === 'works') await breakers.worked({ connection: name, operation });
    if (evidence === 'nothing') await breakers.toldNothing({ connection: name, operation }, me);
    if (evidence === 'fails') await noteFailure({ connection: name, operation }, failure);
  }

  /** Tells the breakers that a creation was carried out by then, although its answer was lost. */
  async function hadWorked({ name: operation }: Operation, by: number): Promise<void> {
    await breakers.hadWorked({ connection: name, operation }, me, by);
  }

  /** @throws {InLine | RetryAt} if the connection is down */
  async function noteFailure(scope: Scope, { error, outcome }: Failure): Promise<void> {
    // Every text about the breaker of an operation names the operation. The connection's breaker has none.
    const why = error.message.replace(`${error.operation}: `, '');
    const open = await breakers.failed(scope, me, {
      why,
      kind: outcome,
      refusesKey: REFUSES_KEY.has(outcome),
    });
    const isDown = open.some(({ operation }) => operation === undefined);
    const stop = isDown ? await stopOf(scope.operation ?? validate.name) : undefined;
    if (!stop) return;
    if (stop.mayProbeAt > clock()) throw waitingFor(stop, false);
    await probe(stop);
  }

  /**
   * Checks whether the connection works, with a call that changes nothing, because the answer to a creation could get
   * lost.
   * @throws {InLine | RetryAt} if it does not work
   */
  async function probe(stop: Stop): Promise<void> {
    let taken = await slots.take(true);
    if (!(await breakers.claimProbe(stop, me))) return taken.slot.giveUp();
    let client: PartnerClient | undefined;
    for (let signedAgain = false; ; signedAgain = true) {
      try {
        await slots.send(taken, async () => {
          const current = await connection.client();
          client = current;
          return () => current.call(connection.operation(validate), {});
        });
        return void (await breakers.worked({ connection: name }));
      } catch (thrown) {
        const { error, outcome } = read(thrown);
        const { repeatable, evidence } = decisions[outcome];
        if (repeatable === 'wait for budget') throw await rateLimited(error, false);
        // If other workers made the last probes, this worker may still have the previous key.
        const isOldKey = REFUSES_KEY.has(outcome) && (await connection.client().catch(() => client)) !== client;
        if ((repeatable === 'sign again' || isOldKey) && !signedAgain) {
          taken = await slots.take(true);
          continue;
        }
        if (evidence !== 'fails') return void (await breakers.worked({ connection: name }));
        return await noteFailure({ connection: name }, { error, outcome });
      }
    }
  }

  /**
   * Returns how a job waits that must not call now. It joins the line and is called. Three jobs return by themselves
   * instead: the next prober, a resend, and a person's job that may probe before the pause is over.
   */
  function waitingFor({ scope: { operation }, breaker, why, mayProbeAt }: Stop, urgent: boolean): InLine | RetryAt {
    const { until, probedAt } = breaker;
    const waitsFor = waitsForOf(breaker);
    const now = clock();
    const asksAgain = probesAgain(breaker, caller) || (urgent && operation !== undefined);
    // The probe of another job may be late.
    if (asksAgain) return comeBackAt(until > now ? until : mayProbeAt, now, why, waitsFor);
    const isLong = isOfPeople(lane) && until - now > LONG_FOR_PEOPLE_MS;
    return isLong
      ? comeBackAt(probedAt + EARLY_PROBE_MS, now, why, waitsFor)
      : new InLine(why, until, waitsFor, operation);
  }

  /** @throws {RetryAt} while the operation's breaker is open and other callers probe it */
  async function ensureWorks({ name: operation }: Operation): Promise<void> {
    const stop = await stopOf(operation);
    if (!stop?.scope.operation) return;
    const { until } = stop.breaker;
    const now = clock();
    if (now < until + PROBED_WITHIN_MS)
      throw comeBackAt(Math.max(until, now) + AFTER_PROBE_MS, now, stop.why, 'answer');
  }

  /**
   * Handles a 429. It stops the connection, or only this job if the service accepts the calls of other jobs.
   * @param urgent for resends and searches, which go first again and never use up an attempt
   * @returns the error for this job to throw
   */
  async function rateLimited(error: PartnerError, urgent: boolean): Promise<Interruption> {
    report({ news: 'rate limited' });
    const { operation, retryAfterSeconds } = error;
    const wantedMs = retryAfterSeconds === null ? undefined : retryAfterSeconds * 1000;
    const before = limited?.operation === operation ? limited.served : undefined;
    const served = await breakers.limited(name);
    limited = { operation, served };
    const why = 'the service wants fewer calls';
    const goFirstAt = (at: number) => comeBackAt(Math.max(clock(), at - BACK_BEFORE_MS), clock(), why, 'budget', at);
    if (before !== undefined && served > before) {
      if (urgent) return goFirstAt(clock() + (wantedMs ?? UNKNOWN_PAUSE_MS));
      return new StepFailed(`${error.message}, while it took other calls`, { notBefore: clock() + (wantedMs ?? 0) });
    }
    const until = await budget.pause(name, limits, wantedMs).catch((error) => {
      // Other jobs get their own 429 from the service.
      if (!(error instanceof BudgetUnavailable)) throw error;
      return clock() + (wantedMs ?? UNKNOWN_PAUSE_MS);
    });
    if (urgent) return goFirstAt(until);
    // If this job went first again, no other call could show that the service accepts others.
    return before === undefined ? new InLine(why, until) : comeBackAt(until + BEHIND_OTHERS_MS, clock(), why, 'budget');
  }

  /** Applies a decision by throwing, if no request is open. */
  async function act(decision: Decision, { error }: Failure, urgent: boolean): Promise<never> {
    if (decision === 'wait for budget') throw await rateLimited(error, urgent);
    if (decision === 'park') throw new Refused(error);
    throw new StepFailed(error.message, { cause: error });
  }

  /** Calls an operation that may be repeated harmlessly, and therefore needs no journal. */
  async function repeatable<P extends z.ZodType, D extends z.ZodType>(
    operation: Operation<P, D>,
    payload: z.input<P>,
    { urgent = false, fence, ...noted }: Noted & { urgent?: boolean; fence?: Fence | undefined } = {},
  ): Promise<Result<z.output<D>>> {
    let clearance = await take(operation, urgent);
    let wasOpen = false;
    for (let signedAgain = false; ; signedAgain = true) {
      let isFenced = false;
      const mark: RequestMark<D> = {
        async write() {
          const client = await connection.client();
          if (fence && !isFenced && !(await fence.begin())) {
            throw new RetryAt(clock(), `${operation.name} has just been called by another run`);
          }
          isFenced = true;
          return () => client.call(operation, payload);
        },
        erase: async () => fence?.cancel(),
      };
      const sent: PartnerSent<D> = await send(clearance, mark, { wasOpen, ...noted });
      if (sent.became === 'accepted') return sent.result;
      wasOpen = sent.became === 'open';
      const decision = decisions[sent.failure.outcome].repeatable;
      if (decision !== 'sign again' || signedAgain) {
        await failed(clearance, sent.failure);
        await act(decision, sent.failure, urgent);
      }
      clearance = await takeAgain(clearance);
    }
  }

  return {
    pauses,
    take,
    takeAgain,
    send,
    failed,
    hadWorked,
    act,
    repeatable,
    ensureWorks,
    slots,
    limited: () => limited,
  };
}

const waitsForOf = ({ refusesKey }: Breaker): WaitsFor => (refusesKey ? 'key' : 'outage');
