import type * as z from 'zod';
import { decisions } from '../../decide.ts';
import type { Mark } from '../../send-once.ts';
import type { Result } from '../../service/partner/answer.ts';
import type { Operation } from '../../service/partner/operation.ts';
import type { CallingRun } from '../line/calling-run.ts';
import { createPauses, type Pauses } from '../line/pauses.ts';
import { createSlots, type Slots } from '../line/slots.ts';
import { RetryAt } from '../record/interruption.ts';
import { type CallTurns, createCallTurns } from './call-turns.ts';
import { createRateLimits, type RateLimits } from './rate-limits.ts';
import { type Attempt, type Attempted, createSending, type Sending } from './sending.ts';

/** A job's calls to the partner API: within the budget, with decisions based on their outcomes. */
export interface PartnerCalls {
  pauses: Pauses;
  slots: Slots;
  turns: CallTurns;
  rateLimits: RateLimits;
  sending: Sending;
  /** Calls an operation that may be repeated without harm, and so needs no journal. */
  repeatable<P extends z.ZodType, D extends z.ZodType>(
    operation: Operation<P, D>,
    payload: z.input<P>,
    how?: Pick<Attempt<D>, 'log' | 'as'> & { urgent?: boolean; fence?: Fence | undefined },
  ): Promise<Result<z.output<D>>>;
}

/** Stands before a call that must not arrive after a later one. */
export interface Fence {
  /** A request is about to leave, and may arrive until its signature ends. @returns false if it must not be sent */
  leaves(): Promise<boolean>;
  /** The request was not carried out, and nothing of this call can arrive any more. */
  refused(): Promise<void>;
}

export function createPartnerCalls(run: CallingRun): PartnerCalls {
  const { connection, clock } = run;
  const pauses = createPauses(run, connection.timeoutMs);
  const slots = createSlots(run, pauses);
  const rateLimits = createRateLimits(run);
  const turns = createCallTurns(run, { slots, pauses, rateLimits });
  const sending = createSending(run, { slots, turns, rateLimits });

  /** @param make returns what sends the request */
  function fenced<Call>(fence: Fence | undefined, operation: string, make: () => Promise<Call>): Mark<void, Call> {
    let isFenced = false;
    return {
      async leaves() {
        const call = await make();
        if (fence && !isFenced && !(await fence.leaves())) {
          throw new RetryAt(clock(), `${operation} has just been called by another run`);
        }
        isFenced = true;
        return call;
      },
      async refused() {
        await fence?.refused();
      },
    };
  }

  return {
    ...{ pauses, slots, turns, rateLimits, sending },
    async repeatable(operation, payload, { urgent = false, fence, log, as } = {}) {
      let turn = await turns.take(operation, urgent);
      let wasOpen = false;
      for (let signedAgain = false; ; signedAgain = true) {
        const mark = fenced(fence, operation.name, async () => {
          const client = await connection.client();
          return () => client.call(operation, payload);
        });
        const sent: Attempted<typeof operation.data> = await sending.send({
          turn,
          mark,
          wasOpen,
          log,
          ...(as && { as }),
        });
        if (sent.became === 'accepted') return sent.result;
        wasOpen = sent.became === 'open';
        const decision = decisions[sent.failure.outcome].repeatable;
        if (decision !== 'sign again' || signedAgain) {
          await turns.failed(turn, sent.failure);
          await sending.act(decision, sent.failure);
        }
        turn = await turns.takeAgain(turn);
      }
    },
  };
}
