import type * as z from 'zod';
import { type Decision, decisions, isRefusal } from '../../decide.ts';
import { type Mark, sendOnce } from '../../send-once.ts';
import type { Result } from '../../service/partner/answer.ts';
import { PartnerError } from '../../service/partner/errors.ts';
import type { Operation } from '../../service/partner/operation.ts';
import type { CallingRun } from '../line/calling-run.ts';
import { createPauses, type Pauses } from '../line/pauses.ts';
import { createSlots, type Slots } from '../line/slots.ts';
import { Refused, RetryAt, StepFailed } from '../record/interruption.ts';
import { outcomeOf } from '../record/outcome.ts';
import { howItEnded, type Send, type SendLog } from '../record/sends.ts';
import { type Clearance, type Clearances, createClearances, type Failure } from './clearances.ts';
import { createRateLimits, type RateLimits } from './rate-limits.ts';

/** How a send is noted. */
export interface Noted {
  /** Gets the send; undefined if no step sends it. */
  log?: SendLog | undefined;
  /** What the log gets besides the times and the outcome. */
  as?: Pick<Send, 'calls' | 'sameBytes'>;
}

/** Writes that a request may have left, and returns what sends it. */
export type RequestMark<D extends z.ZodType> = Mark<void, () => Promise<Result<z.output<D>>>>;

export type PartnerSent<D extends z.ZodType> =
  | { became: 'accepted'; result: Result<z.output<D>> }
  | { became: 'not carried out' | 'open'; failure: Failure };

/** A job's calls to the partner API: within the budget, with decisions based on their outcomes. */
export interface PartnerCalls {
  pauses: Pauses;
  slots: Slots;
  clearances: Clearances;
  rateLimits: RateLimits;
  /**
   * Sends one request, in the slot of its clearance.
   * @param wasOpen true if an earlier send may be carried out
   * @throws any error that is not from the partner API
   */
  send<D extends z.ZodType>(
    clearance: Clearance,
    mark: RequestMark<D>,
    how: Noted & { wasOpen: boolean },
  ): Promise<PartnerSent<D>>;
  /** Applies a decision by throwing. For use when no request is open. */
  act(decision: Decision, failure: Failure, urgent: boolean): Promise<never>;
  /** Calls an operation that may be repeated without harm, and so needs no journal. */
  repeatable<P extends z.ZodType, D extends z.ZodType>(
    operation: Operation<P, D>,
    payload: z.input<P>,
    how?: Noted & { urgent?: boolean; fence?: Fence | undefined },
  ): Promise<Result<z.output<D>>>;
}

/** Runs before a call that must not arrive after a later one. */
export interface Fence {
  /** A request is about to leave, and may arrive until its signature ends. @returns false if it must not be sent */
  leaves(): Promise<boolean>;
  /** The request was not carried out, and nothing of this call can arrive any more. */
  refused(): Promise<void>;
}

export function createPartnerCalls(run: CallingRun): PartnerCalls {
  const { connection, breakers, clock, report } = run;
  const pauses = createPauses(run, connection.timeoutMs);
  const slots = createSlots(run, pauses);
  const rateLimits = createRateLimits(run);
  const clearances = createClearances(run, slots, pauses, rateLimits);

  async function send<D extends z.ZodType>(
    clearance: Clearance,
    mark: RequestMark<D>,
    { wasOpen, ...noted }: Noted & { wasOpen: boolean },
  ): Promise<PartnerSent<D>> {
    // In this order: the slot is due, the mark is written, the slot is still good, the request leaves, and is refused or not.
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
    if (sent.became !== 'accepted') return { became: sent.became, failure: clearances.read(sent.error) };
    const { operation } = clearance;
    rateLimits.worked(operation);
    // The answer counts even if the breaker cannot be closed. The next success closes it too.
    await breakers
      .worked({ connection: connection.name, operation })
      .catch((error) => report({ news: 'breaker not closed', error }));
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

  async function act(decision: Decision, { error }: Failure, urgent: boolean): Promise<never> {
    if (decision === 'wait for budget') throw await rateLimits.met(error, urgent);
    if (decision === 'park') throw new Refused(error);
    throw new StepFailed(error.message, { cause: error });
  }

  function fencedMark<P extends z.ZodType, D extends z.ZodType>(
    operation: Operation<P, D>,
    payload: z.input<P>,
    fence: Fence | undefined,
  ): RequestMark<D> {
    let isFenced = false;
    return {
      async write() {
        const client = await connection.client();
        if (fence && !isFenced && !(await fence.leaves())) {
          throw new RetryAt(clock(), `${operation.name} has just been called by another run`);
        }
        isFenced = true;
        return () => client.call(operation, payload);
      },
      erase: async () => fence?.refused(),
    };
  }

  return {
    pauses,
    slots,
    clearances,
    rateLimits,
    send,
    act,
    async repeatable(operation, payload, { urgent = false, fence, ...noted } = {}) {
      let clearance = await clearances.take(operation, urgent);
      let wasOpen = false;
      for (let signedAgain = false; ; signedAgain = true) {
        const sent: PartnerSent<typeof operation.data> = await send(clearance, fencedMark(operation, payload, fence), {
          wasOpen,
          ...noted,
        });
        if (sent.became === 'accepted') return sent.result;
        wasOpen = sent.became === 'open';
        const decision = decisions[sent.failure.outcome].repeatable;
        if (decision !== 'sign again' || signedAgain) {
          await clearances.failed(clearance, sent.failure);
          await act(decision, sent.failure, urgent);
        }
        clearance = await clearances.takeAgain(clearance);
      }
    },
  };
}
