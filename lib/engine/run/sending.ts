import type * as z from 'zod';
import { type Decision, isRefusal } from '../../decide.ts';
import { type Mark, sendOnce } from '../../send-once.ts';
import type { Result } from '../../service/partner/answer.ts';
import { PartnerError } from '../../service/partner/errors.ts';
import type { CallingRun } from '../line/calling-run.ts';
import type { Slots } from '../line/slots.ts';
import { Refused, StepFailed } from '../record/interruption.ts';
import { outcomeOf } from '../record/outcome.ts';
import { howItEnded, type Send, type SendLog } from '../record/sends.ts';
import type { CallTurns, Failure, Turn } from './call-turns.ts';
import type { RateLimits } from './rate-limits.ts';

/** One send of a call. */
export interface Attempt<D extends z.ZodType> {
  turn: Turn;
  /** Returns what sends the request, once it is written that it may have left. */
  mark: Mark<void, () => Promise<Result<z.output<D>>>>;
  /** True if an earlier send may be carried out. */
  wasOpen: boolean;
  /** Gets the send; undefined if no step sends it. */
  log?: SendLog | undefined;
  /** What the log gets besides the times and the outcome. */
  as?: Pick<Send, 'calls' | 'sameBytes'>;
}

export type Attempted<D extends z.ZodType> =
  | { became: 'accepted'; result: Result<z.output<D>> }
  | { became: 'not carried out' | 'open'; failure: Failure };

/** A job's sends to the partner API. */
export interface Sending {
  /** @throws any error that is not from the partner API */
  send<D extends z.ZodType>(attempt: Attempt<D>): Promise<Attempted<D>>;
  /** Applies a decision by throwing. For use when no request is open. */
  act(decision: Decision, failure: Failure): Promise<never>;
}

export interface SendingOptions {
  slots: Slots;
  turns: CallTurns;
  rateLimits: RateLimits;
}

export function createSending(run: CallingRun, { slots, turns, rateLimits }: SendingOptions): Sending {
  const { connection, breakers, clock, report } = run;

  async function logged<T extends Result<unknown>>(
    call: () => Promise<T>,
    { turn: { askedAt, grantedAt }, log, as }: Pick<Attempt<z.ZodType>, 'turn' | 'log' | 'as'>,
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

  return {
    async send({ turn, mark, wasOpen, ...about }) {
      const sent = await sendOnce(mark, wasOpen, ({ mayLeave, leaves, refused }) =>
        slots.send(turn, async () => {
          const call = await mayLeave();
          return (taken) => {
            leaves();
            return logged(call, { turn: { ...turn, ...taken }, ...about }).catch((error) => {
              if (error instanceof PartnerError && isRefusal(outcomeOf(error))) refused();
              throw error;
            });
          };
        }),
      );
      if (sent.became !== 'accepted') return { became: sent.became, failure: turns.read(sent.error) };
      const { operation } = turn;
      rateLimits.worked(operation);
      // The answer counts even if the breaker cannot be closed. The next success closes it too.
      await breakers
        .worked({ connection: connection.name, operation })
        .catch((error) => report({ news: 'breaker not closed', error }));
      return sent;
    },
    async act(decision, { error }) {
      if (decision === 'wait for budget') throw await rateLimits.met(error);
      if (decision === 'park') throw new Refused(error);
      throw new StepFailed(error.message, { cause: error });
    },
  };
}
